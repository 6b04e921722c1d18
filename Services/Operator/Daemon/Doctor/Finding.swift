internal import JSONBytes

/// The result of one check of `touchsync doctor`.
package struct Finding: Sendable, Equatable {
    /// The severity.
    package enum Grade: String, Sendable {
        case ok, warn, fail
    }

    package let check: String
    package let grade: Grade
    /// The result, for people.
    package let detail: String
    /// What to do; nil when nothing is needed.
    package let remedy: String?

    /// The check passed.
    static func ok(_ check: String, _ detail: String) -> Finding {
        Finding(check: check, grade: .ok, detail: detail, remedy: nil)
    }

    /// It works, but not as it should.
    static func warn(_ check: String, _ detail: String, _ remedy: String) -> Finding {
        Finding(check: check, grade: .warn, detail: detail, remedy: remedy)
    }

    /// It will not work.
    static func fail(_ check: String, _ detail: String, _ remedy: String) -> Finding {
        Finding(check: check, grade: .fail, detail: detail, remedy: remedy)
    }

    /// For people.
    static func text(_ findings: [Finding]) -> String {
        let width = findings.map(\.check.count).max() ?? 0
        return findings.map { finding in
            let pad = String(repeating: " ", count: width - finding.check.count)
            let remedy = finding.remedy.map { "\n      \(String(repeating: " ", count: width))→ \($0)" } ?? ""
            return "\(finding.grade.rawValue.padded(to: 4))  \(finding.check)\(pad)  \(finding.detail)\(remedy)\n"
        }.joined()
    }

    /// `{"ok":true,"checks":[{"check","grade","detail","remedy"}]}`
    static func json(_ findings: [Finding]) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("ok")
        writer.value(!findings.contains { $0.grade == .fail })
        writer.key("checks")
        writer.beginArray()
        for finding in findings {
            writer.beginObject()
            writer.key("check")
            writer.value(finding.check)
            writer.key("grade")
            writer.value(finding.grade.rawValue)
            writer.key("detail")
            writer.value(finding.detail)
            writer.key("remedy")
            if let remedy = finding.remedy { writer.value(remedy) } else { writer.null() }
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self) + "\n"
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - self.count))
    }
}
