#if os(Linux)
    import NIOCore
    import NIOHTTP1
    import Testing

    @testable import TouchSyncClient

    /// Heads of answers to requests to upgrade.
    struct UpgradeAnswerTests {
        private let head = "HTTP/1.1 101 Switching Protocols\r\nA: b c \r\nA:\td\r\nE:\r\n\r\n"

        @Test func anyPacketsAreTheSameAnswer() throws {
            let bytes = Array((self.head + "rest").utf8)
            for size in 1...bytes.count {
                var (answer, count) = (UpgradeAnswer(), 0)
                for start in stride(from: 0, to: bytes.count, by: size) {
                    answer.append(ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)]))
                    guard count == 0, let head = try answer.next() else { continue }
                    count += 1
                    #expect(head.status == .switchingProtocols)
                    #expect(head.headers["a"] == ["b c", "d"] && head.headers["e"] == [""])
                }
                #expect(count == 1 && String(buffer: answer.rest) == "rest")
            }
        }

        @Test func headsThatAnnounceAnotherAreSkipped() throws {
            var answer = UpgradeAnswer()
            answer.append(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103\r\nA: b\r\n\r\n"))
            #expect(try answer.next() == nil)
            answer.append(ByteBuffer(string: "HTTP/1.0 404 Not Found\r\n\r\nbody"))
            #expect(try answer.next()?.status == .notFound)
        }

        @Test(arguments: [
            "", "HTTP/1.1", "HTTP/2.0 101 a", "HTTP/1.1 1011 a", "HTTP/1.1 +11 a", "HTTP/1.1 99 a",
            "HTTP/1.1 101 a\r\nno colon", "HTTP/1.1 101 a\r\n: b", "HTTP/1.1 101 a\r\na : b",
            "HTTP/1.1 101 a\r\na: b\r\n c: d", "HTTP/1.1 101 a\r\na: b\nc: d",
        ])
        func anythingElseIsRefused(_ text: String) {
            var answer = UpgradeAnswer()
            answer.append(ByteBuffer(string: text + "\r\n\r\n"))
            #expect(throws: TransportError.self) { try answer.next() }
        }

        @Test(arguments: ["HTTP/1.1 101 a\r\n", "HTTP/1.1 103 a\r\nA: b\r\n\r\n"])
        func endlessHeadsAreRefused(_ text: String) throws {
            var answer = UpgradeAnswer()
            for _ in 0..<(UpgradeAnswer.limit / text.utf8.count) {
                answer.append(ByteBuffer(string: text))
                #expect(try answer.next() == nil)
            }
            answer.append(ByteBuffer(string: text))
            #expect(throws: TransportError.self) { try answer.next() }
        }
    }
#endif
