internal import JSONBytes

/// The result of one check of `touchsync doctor`.
package struct Finding: Sendable, Equatable {
    package enum Grade: String, Sendable {
        case ok, warn, fail
    }

    package let check: String
    package let grade: Grade
    /// The result, for people.
    package let detail: String
    /// What to do; nil when nothing is needed.
    package let remedy: String?

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
            let (grade, check) = (finding.grade.rawValue.padded(to: 4), finding.check.padded(to: width))
            let remedy = finding.remedy.map { "\n\("".padded(to: width + 6))→ \($0)" } ?? ""
            return "\(grade)  \(check)  \(finding.detail)\(remedy)\n"
        }.joined()
    }

    /// `{"ok":true,"checks":[{"check","grade","detail","remedy"}]}`
    static func json(_ findings: [Finding]) -> String {
        JSONWriter.line { writer in
            writer.member("ok", !findings.contains { $0.grade == .fail })
            writer.objects("checks", findings) { finding, writer in
                writer.member("check", finding.check)
                writer.member("grade", finding.grade.rawValue)
                writer.member("detail", finding.detail)
                writer.member("remedy", finding.remedy)
            }
        }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - self.count))
    }
}
