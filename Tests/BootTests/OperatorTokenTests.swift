import Glibc
import Testing

@testable import Boot

@Suite struct OperatorTokenTests {
    private static let token = "0123456789abcdef0123456789abcdef"

    @Test func theTokenMatchesWhole() {
        let access = OperatorAccess(token: Self.token)
        for field in ["Bearer \(Self.token)", "bearer  \(Self.token)", OperatorAccess.field(presenting: Self.token)] {
            #expect(access.refusal(authorization: field) == nil, "\(field)")
        }
        for other in [
            "", Self.token, "Bearer", "Bearer ", "Bearer \(Self.token)x", "Bearer \(Self.token.dropLast())",
            "Basic \(Self.token)",
        ] {
            #expect(access.refusal(authorization: other) == .wrong, "\(other)")
        }
        #expect(access.refusal(authorization: nil) == .missing)
        #expect(OperatorAccess(token: nil).refusal(authorization: "Bearer ") == .unset)
    }

    @Test(arguments: [
        "0123456789abcdef0123456789abcde", "0123456789abcdef 0123456789abcdef", "é0123456789abcdef0123456789abcdef",
    ])
    func aTokenThatNobodyCanPresentIsRefused(_ text: String) throws {
        #expect(try SharedSettings.operatorToken.value(of: .text(text)) == nil)
    }

    /// A data folder for the length of a test.
    private func withFolder(_ body: (String) throws -> Void) throws {
        var template = Array("/tmp/touchsync-token-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer {
            unlink(OperatorTokenFile.path(in: folder))
            rmdir(folder)
        }
        try body(folder)
    }

    @Test func aTokenIsMadeOnceForItsUserAlone() throws {
        try self.withFolder { folder in
            let made = try OperatorTokenFile.keep(nil, in: folder).get()
            #expect(made.utf8.count == 64)
            #expect(FileFacts(of: OperatorTokenFile.path(in: folder), followsLink: false)?.permissions == 0o600)
            #expect(try OperatorTokenFile.keep(nil, in: folder).get() == made)
            #expect(try OperatorTokenFile.keep(Self.token, in: folder).get() == Self.token)
            #expect(try OperatorTokenFile.read(in: folder).get() == Self.token)
            #expect(FileFacts(of: OperatorTokenFile.path(in: folder), followsLink: false)?.permissions == 0o600)
        }
    }

    @Test func aTokenThatOthersMayKnowIsRefused() throws {
        try self.withFolder { folder in
            let path = OperatorTokenFile.path(in: folder)
            func refusal() -> String? {
                guard case .failure(let refusal) = OperatorTokenFile.keep(nil, in: folder) else { return nil }
                return refusal.reason
            }
            #expect(symlink("/etc/hostname", path) == 0)
            #expect(refusal() == "cannot be read: It is a symbolic link")
            unlink(path)
            #expect(FileBytes.create(path, with: Array(Self.token.utf8)) == nil && chmod(path, 0o644) == 0)
            #expect(refusal()?.hasPrefix("may be read or written by others") == true)
            unlink(path)
            #expect(FileBytes.create(path, with: Array("short".utf8)) == nil)
            #expect(refusal()?.hasPrefix("has no token of 32 to 4096") == true)
        }
    }
}
