import Foundation
import JSONBytes
import TouchSyncClient
import TouchSyncClientCore

/// Lines for the test.
enum Report {
    static func event(_ name: String, _ value: some JSONEncodable) {
        Self.line { writer in
            writer.member("event", name)
            writer.member("value", value)
        }
    }

    static func result(_ call: Int64, _ value: some JSONEncodable) {
        Self.line { writer in
            writer.member("call", call)
            writer.member("result", value)
        }
    }

    static func error(_ call: Int64, _ error: any Error) {
        Self.line { writer in
            writer.member("call", call)
            writer.member("error", Failure(error: error))
        }
    }

    /// A line that is longer than the pipe holds goes in parts: those of several threads must not mix.
    private static let writing = NSLock()

    private static func line(_ members: (inout JSONWriter) -> Void) {
        let line = Data(JSONWriter.text(members) + [UInt8(ascii: "\n")])
        self.writing.withLock { FileHandle.standardOutput.write(line) }
    }
}

/// An error as the test sees it.
struct Failure: JSONEncodable {
    let error: any Error

    func encode(into writer: inout JSONWriter) {
        let error = self.error as? ClientError
        writer.beginObject()
        writer.member("code", error?.code.rawValue)
        writer.member("field", ifPresent: error?.field)
        writer.member("message", error?.message ?? "\(self.error)")
        writer.member("by", ifPresent: error?.by)
        if let entry = error?.entry {
            writer.object("entry") { writer in
                writer.member("seq", entry.seq)
                writer.member("event", entry.event)
                writer.member("elementIds", entry.elementIds)
            }
        }
        writer.endObject()
    }
}
