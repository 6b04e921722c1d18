#if os(Linux)
    import NIOCore
    import NIOWebSocket
    import Testing

    @testable import TouchSyncClient

    @Suite struct MessageAssemblyTests {
        private var assembly = MessageAssembly(messageLimit: 10, fragmentLimit: 4)

        private static func frame(_ first: UInt8, _ text: String = "") -> WebSocketFrame {
            self.frame(first, Array(text.utf8))
        }

        private static func frame(_ first: UInt8, _ bytes: [UInt8]) -> WebSocketFrame {
            var frame = WebSocketFrame(
                fin: first & 0x80 != 0, opcode: WebSocketOpcode(encodedWebSocketOpcode: first & 0xF) ?? .text,
                data: ByteBuffer(bytes: bytes))
            frame.rsv1 = first & 0x40 != 0
            return frame
        }

        private static func code(_ assembly: MessageAssembly, _ frames: WebSocketFrame...) -> WebSocketErrorCode? {
            var assembly = assembly
            do throws(MessageAssembly.Failure) {
                for frame in frames { _ = try assembly.received(frame) }
                return nil
            } catch {
                return error.code
            }
        }

        @Test mutating func wholeMessages() throws {
            #expect(try self.assembly.received(Self.frame(0x81, "1")) == .message("1"))
            #expect(try self.assembly.received(Self.frame(0x81)) == .message(""))
            #expect(try self.assembly.received(Self.frame(0x81, "0123456789")) == .message("0123456789"))
        }

        @Test mutating func fragmentsWithControlFramesBetweenThem() throws {
            for _ in 0..<2 {
                #expect(try self.assembly.received(Self.frame(0x01, [0xC3])) == nil)
                #expect(try self.assembly.received(Self.frame(0x89, "x")) == .ping(ByteBuffer(string: "x")))
                #expect(try self.assembly.received(Self.frame(0x00)) == nil)
                #expect(try self.assembly.received(Self.frame(0x8A)) == nil)
                #expect(try self.assembly.received(Self.frame(0x80, [0xA4, 0x61])) == .message("äa"))
            }
        }

        @Test func limits() {
            #expect(Self.code(self.assembly, Self.frame(0x81, "0123456789a")) == .messageTooLarge)
            #expect(Self.code(self.assembly, Self.frame(0x01, "012345"), Self.frame(0x80, "6789")) == nil)
            #expect(Self.code(self.assembly, Self.frame(0x01, "012345"), Self.frame(0x00, "6789a")) == .messageTooLarge)
            let (first, middle, last) = (Self.frame(0x01), Self.frame(0x00), Self.frame(0x80))
            #expect(Self.code(self.assembly, first, middle, middle, last) == nil)
            #expect(Self.code(self.assembly, first, middle, middle, middle, last) == .messageTooLarge)
        }

        @Test func violations() {
            var masked = Self.frame(0x81, "a")
            masked.maskKey = [1, 2, 3, 4]
            #expect(Self.code(self.assembly, masked) == .protocolError)
            #expect(Self.code(self.assembly, Self.frame(0xC1, "a")) == .protocolError)
            #expect(Self.code(self.assembly, Self.frame(0x80, "a")) == .protocolError)
            #expect(Self.code(self.assembly, Self.frame(0x01, "a"), Self.frame(0x81, "a")) == .protocolError)
            #expect(Self.code(self.assembly, Self.frame(0x83)) == .protocolError)
            #expect(Self.code(self.assembly, Self.frame(0x8F)) == .protocolError)
            #expect(Self.code(self.assembly, Self.frame(0x82, "a")) == .unacceptableData)
            #expect(Self.code(self.assembly, Self.frame(0x81, [0xC3])) == .dataInconsistentWithMessage)
            #expect(Self.code(self.assembly, Self.frame(0x81, [0xED, 0xA0, 0x80])) == .dataInconsistentWithMessage)
        }

        @Test mutating func closeFramesAreAnsweredByTheirCode() throws {
            #expect(try self.assembly.received(Self.frame(0x88)) == .close(.normalClosure))
            #expect(try self.assembly.received(Self.frame(0x88, [0x03, 0xE9, 0x61])) == .close(.goingAway))
            #expect(try self.assembly.received(Self.frame(0x88, [0x0F, 0xA0])) == .close(.unknown(4000)))
            for bytes: [UInt8] in [[3], [0, 0], [0x03, 0xEC], [0x03, 0xED], [0x03, 0xF7], [0x13, 0x88]] {
                #expect(Self.code(self.assembly, Self.frame(0x88, bytes)) == .protocolError)
            }
        }
    }
#endif
