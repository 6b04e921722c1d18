import Canvas
import Glibc
import JSONBytes
import Testing

@testable import Boot

@Suite struct RulesFileTests {
    private static func refusal(_ text: String) -> String? {
        do {
            _ = try RulesFile.parse(Array(text.utf8))
            return nil
        } catch {
            return error.reason
        }
    }

    @Test(arguments: [
        ("", "is empty"),
        ("{\n  \"note\": {\"maxScale\": 2},\n}", "line 3 is no JSON: unexpectedByte"),
        ("\n\n", "line 3 is no JSON: unexpectedEnd"),
        ("{\n \"note\": {\n  \"maxscale\": 2\n }\n}", "line 3, note.maxscale: There is no such rule."),
        (
            "{\n \"note\": {\n  \"minScale\": 3,\n  \"maxScale\": 2\n }\n}",
            "line 4, note.maxScale: maxScale is below minScale."
        ),
        ("{\n \"note\": {\n  \"minScale\": 30\n }\n}", "line 2, note.maxScale: maxScale is below minScale."),
        ("{\"text\": {\n\"fontSize\":\n{\"min\": 9}}}", "line 2, text.fontSize.max: A number is required."),
        ("\n[]", "line 2: The rules are an object."),
        ("{\"photo\": {},\n \"a.b\": 1}", "line 2, a.b: Rules are an object."),
    ])
    func aMistakeIsNamedWithItsLine(text: String, reason: String) {
        #expect(Self.refusal(text) == reason)
    }

    @Test func whatIsNoReadableFileIsRefused() throws {
        let folder = try TemporaryFolder()
        let large = folder.path + "/large"
        let descriptor = creat(large, 0o600)
        #expect(ftruncate(descriptor, 100 << 20) == 0)
        close(descriptor)
        for (path, reason) in [
            (folder.path, "Is a directory"), (folder.path + "/missing", "No such file"), (large, "longer than"),
        ] {
            #expect(throws: SettingRefusal.self) { try RulesFile(reading: path) }
            do { _ = try RulesFile(reading: path) } catch { #expect(error.reason.contains(reason)) }
        }
    }

    @Test func changesAreNamedOneByOne() throws {
        let old = try RulesFile.parse(Array(#"{"map":{"maxScale":4},"gone":{}}"#.utf8))
        let new = try RulesFile.parse(
            Array(#"{"map":{"maxScale":4,"rotates":false},"pin":{"minSide":9},"text":{"fontSize":null}}"#.utf8))
        #expect(
            new.changes(since: old) == [
                "map.rotates true → false", "pin.minSide 0 → 9", "text.fontSize {\"min\":12,\"max\":72} → null",
                "gone is not listed any more",
            ])
        #expect(new.changes(since: new) == [])
    }

    /// As many types as a file may have, apart from the built-in ones.
    @Test func changesOfALongTableAreFound() throws {
        let types = (0..<64).map { "\"type-\($0)\":{\"maxScale\":2}" }.joined(separator: ",")
        let table = try RulesFile.parse(Array("{\(types)}".utf8))
        #expect(table.changes(since: .defaults).count == 64)
    }
}

@Suite struct ReloadableRulesTests {
    @Test func aRefusedFileLeavesTheRules() {
        var rules = ReloadableRules(.defaults)
        #expect(rules.fileRead(.success(Array("{".utf8))) == .refused("line 1 is no JSON: unexpectedEnd"))
        #expect(rules.fileRead(.failure(SettingRefusal("is a folder"))) == .refused("is a folder"))
        #expect(rules.table == .defaults)
        #expect(rules.fileRead(.success(Array("{}".utf8))) == .unchanged)
        #expect(rules.fileRead(.success(Array(#"{"note":{"maxScale":2}}"#.utf8))) == .changed(["note.maxScale 10 → 2"]))
        #expect(rules.table.rules(for: "note").maxScale == 2)
    }
}

@Suite struct FileFollowerTests {
    private let folder: TemporaryFolder
    private let path: String
    private var follower: FileFollower

    init() throws {
        self.folder = try TemporaryFolder()
        self.path = self.folder.path + "/rules.json"
        self.folder.write("{}", to: "rules.json")
        self.follower = FileFollower(FileFacts(of: self.path))
    }

    /// Whether the file is to be read, after each look at it.
    private mutating func looks(_ count: Int = 3) -> [Bool] {
        (0..<count).map { _ in self.follower.examined(FileFacts(of: self.path)) }
    }

    private mutating func read() { self.follower.wasRead(FileFacts(of: self.path)) }

    @Test mutating func aFileThatStaysTheSameIsNotRead() {
        #expect(self.looks() == [false, false, false])
    }

    @Test mutating func aFileThatChangedIsReadOnceItHasSettled() {
        self.folder.write(#"{"note":{"maxScale":2}}"#, to: "rules.json")
        #expect(self.looks(1) == [false])
        // Still being written.
        self.folder.write(#"{"note":{"maxScale":22}}"#, to: "rules.json")
        #expect(self.looks(2) == [false, true])
        self.read()
        #expect(self.looks() == [false, false, false])
    }

    @Test mutating func everyWayOfReplacingAFileIsSeen() {
        // The same size and contents, so that only the file itself differs.
        self.folder.write("{}", to: "new.json")
        rename(self.folder.path + "/new.json", self.path)
        #expect(self.looks() == [false, true, true])
        self.read()
        // A mounted ConfigMap: the file is a link through a folder that is a link, which is replaced.
        for version in ["v1", "v2"] {
            mkdir(self.folder.path + "/" + version, 0o700)
            self.folder.write("{}", to: version + "/rules.json")
        }
        symlink("v1", self.folder.path + "/..data")
        unlink(self.path)
        symlink("..data/rules.json", self.path)
        #expect(self.looks() == [false, true, true])
        self.read()
        symlink("v2", self.folder.path + "/..new")
        rename(self.folder.path + "/..new", self.folder.path + "/..data")
        #expect(self.looks() == [false, true, true])
        self.read()
        unlink(self.folder.path + "/..data")
        #expect(self.looks() == [false, true, true])
        self.read()
        #expect(self.looks() == [false, false, false])
    }
}

/// A folder that goes with the test.
final class TemporaryFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/touchsync-rules-XXXXXX".utf8CString)
        _ = try #require(mkdtemp(&template))
        self.path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        for folder in ["/v1", "/v2", ""] {
            for name in ["rules.json", "new.json", "large", "..data", "..new"] {
                unlink(self.path + folder + "/" + name)
            }
            rmdir(self.path + folder)
        }
    }

    func write(_ text: String, to name: String) {
        let descriptor = open(self.path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        FileBytes.write(Array(text.utf8), to: descriptor)
        close(descriptor)
    }
}
