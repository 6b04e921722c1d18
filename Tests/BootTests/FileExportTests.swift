import Glibc
import Testing

@testable import Boot

@Suite(.timeLimit(.minutes(1))) struct FileExportTests {
    /// A folder for the length of a test.
    private final class Folder {
        let path: String

        init() throws {
            var template = Array("/tmp/touchsync-export-XXXXXX".utf8CString)
            try #require(mkdtemp(&template) != nil)
            self.path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }

        deinit {
            for name in self.names { unlink("\(self.path)/\(name)") }
            rmdir("\(self.path)/folder")
            rmdir(self.path)
        }

        var names: [String] {
            guard let listing = opendir(self.path) else { return [] }
            defer { closedir(listing) }
            var names: [String] = []
            while let entry = readdir(listing) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if name != "." && name != ".." { names.append(name) }
            }
            return names.sorted()
        }
    }

    private static let text = Array("exported".utf8)

    @Test func aNewFileIsItsUsersAlone() throws {
        let folder = try Folder()
        #expect(FileBytes.export(Self.text, to: "\(folder.path)/new") == nil)
        #expect(try FileBytes.read("\(folder.path)/new").get() == Self.text)
        #expect(FileFacts(of: "\(folder.path)/new", followsLink: false)?.permissions == 0o600)
        #expect(folder.names == ["new"])
    }

    @Test func aFileKeepsItsModeAndALinkLeadsToIt() throws {
        let folder = try Folder()
        let (file, link) = ("\(folder.path)/file", "\(folder.path)/link")
        #expect(FileBytes.create(file, with: [1]) == nil && chmod(file, 0o644) == 0 && symlink("file", link) == 0)
        #expect(FileBytes.export(Self.text, to: link) == nil)
        #expect(try FileBytes.read(file).get() == Self.text)
        #expect(FileFacts(of: file, followsLink: false)?.permissions == 0o644)
        #expect(FileFacts(of: link, followsLink: false)?.isRegular == false)
        #expect(folder.names == ["file", "link"])
    }

    @Test func aLinkToNothingGetsItsFile() throws {
        let folder = try Folder()
        #expect(symlink("\(folder.path)/file", "\(folder.path)/link") == 0)
        #expect(FileBytes.export(Self.text, to: "\(folder.path)/link") == nil)
        #expect(folder.names == ["file", "link"])
        #expect(try FileBytes.read("\(folder.path)/file").get() == Self.text)
    }

    @Test func linksInACircleAreRefused() throws {
        let folder = try Folder()
        #expect(symlink("two", "\(folder.path)/one") == 0 && symlink("one", "\(folder.path)/two") == 0)
        #expect(FileBytes.export(Self.text, to: "\(folder.path)/one")?.reason.hasPrefix("cannot be written") == true)
    }

    @Test func aFolderIsNamedAndNothingIsLeft() throws {
        let folder = try Folder()
        #expect(mkdir("\(folder.path)/folder", 0o755) == 0)
        #expect(FileBytes.export(Self.text, to: "\(folder.path)/folder")?.reason == "is a folder")
        #expect(
            FileBytes.replace("\(folder.path)/folder", with: Self.text)?.reason == "cannot be replaced: Is a directory")
        #expect(folder.names == ["folder"])
    }

    @Test func aPipeIsWrittenTo() async throws {
        let folder = try Folder()
        let pipe = "\(folder.path)/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        #expect(FileBytes.export(Self.text, to: pipe) == nil)
        #expect(try FileBytes.read(reader).get() == Self.text)
        #expect(FileFacts(of: pipe, followsLink: false)?.isRegular == false && folder.names == ["pipe"])
    }

    @Test func aDeviceStaysOne() {
        #expect(FileBytes.export(Self.text, to: "/dev/null") == nil)
        #expect(FileFacts(of: "/dev/null", followsLink: false)?.isRegular == false)
    }

    @Test func aDraftThatIsALinkIsNotFollowed() throws {
        let folder = try Folder()
        let (file, victim) = ("\(folder.path)/file", "\(folder.path)/victim")
        #expect(FileBytes.create(victim, with: [1]) == nil && symlink(victim, "\(file).\(getpid()).new") == 0)
        #expect(FileBytes.replace(file, with: Self.text) == nil)
        #expect(try FileBytes.read(victim).get() == [1])
    }

    @Test func aByteOrderMarkIsNoPartOfAText() throws {
        let folder = try Folder()
        #expect(FileBytes.create("\(folder.path)/text", with: [0xEF, 0xBB, 0xBF] + Self.text) == nil)
        #expect(try FileBytes.read("\(folder.path)/text").get() == Self.text)
    }
}
