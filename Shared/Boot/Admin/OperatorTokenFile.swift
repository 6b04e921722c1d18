/// The file in a pipeline's data folder with the operator's token, for the folder's user alone: `DATA/operator-token`.
package enum OperatorTokenFile {
    /// - Parameter folder: the data folder.
    package static func path(in folder: String) -> String { "\(folder)/operator-token" }

    /// The token of the pipeline that runs, or ran last, in a data folder.
    /// - Returns: the token, or a reason that completes the file's path.
    package static func read(in folder: String) -> Result<String, SettingRefusal> {
        FileBytes.readPrivate(self.path(in: folder), limit: 4097).flatMap { bytes in
            let text = String(decoding: bytes.last == 0x0A ? bytes.dropLast() : bytes[...], as: UTF8.self)
            let setting = SharedSettings.operatorToken
            guard case .some(.some(.some)) = try? setting.value(of: .text(text)) as? String?? else {
                return .failure(SettingRefusal("has no token of \(setting.allowed)"))
            }
            return .success(text)
        }
    }

    /// Keeps a token that is given, or else makes one unless there is one.
    /// - Returns: the token that counts, or a reason that completes the file's path.
    package static func keep(_ given: String?, in folder: String) -> Result<String, SettingRefusal> {
        let path = self.path(in: folder)
        if let given {
            if (try? self.read(in: folder).get()) == given { return .success(given) }
            let refusal = FileBytes.replace(path, with: Array("\(given)\n".utf8))
            return refusal.map { .failure($0) } ?? .success(given)
        }
        let made = String(randomWords: 4)
        if FileBytes.create(path, with: Array("\(made)\n".utf8)) == nil { return .success(made) }
        return self.read(in: folder)
    }
}

extension String {
    /// Random bits, 64 a word, as hexadecimal digits.
    package init(randomWords count: Int) {
        self = (0..<count).map { _ in
            let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
