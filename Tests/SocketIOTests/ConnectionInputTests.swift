import NIOCore
import Testing

@testable import SocketIOServer

@Suite struct ConnectionInputTests {
    /// Processes `text` up to the last `left` bytes.
    private static func process(_ text: String, leaving left: Int, _ input: inout ConnectionInput) {
        input.beginProcessing()
        bytes(text).withUnsafeBytes { input.endProcessing(leaving: UnsafeRawBufferPointer(rebasing: $0.suffix(left))) }
    }

    @Test func processedInputDoesNotPause() {
        var input = ConnectionInput()
        input.beginProcessing()
        #expect(input.isProcessing && !input.isPaused)
        Self.process("all", leaving: 0, &input)
        #expect(!input.isProcessing && !input.isPaused)
        #expect(input.unreadBytes == 0)
    }

    @Test func bytesThatAreLeftOverPauseAndKeepTheirOrder() {
        var input = ConnectionInput()
        Self.process("one two", leaving: 4, &input)
        input.append(ByteBuffer(string: " three").readableBytesView)
        #expect(input.isPaused && input.unreadBytes == 10)
        #expect(input.removeUnread() == bytes(" two three"))
        #expect(!input.isPaused && input.unreadBytes == 0)
    }

    @Test func aPeerThatSentTooMuchPausesUntilThatIsPaidFor() {
        var input = ConnectionInput()
        #expect(input.pause(until: 5) == true)
        #expect(input.pause(until: 8) == false, "the deadline of a pause moves, it is no further pause")
        #expect(input.isPaused && input.resumeDeadline == 8)
        input.resume()
        #expect(!input.isPaused && input.resumeDeadline == .max)
        #expect(input.pause(until: 9) == true)
    }

    @Test func bothReasonsToPauseHaveToEnd() {
        var input = ConnectionInput()
        Self.process("rest", leaving: 4, &input)
        _ = input.pause(until: 5)
        _ = input.removeUnread()
        #expect(input.isPaused)
        Self.process("rest", leaving: 4, &input)
        input.resume()
        #expect(input.isPaused)
    }

    @Test func discardedInputIsNotPaused() {
        var input = ConnectionInput()
        Self.process("rest", leaving: 4, &input)
        _ = input.pause(until: 5)
        input.discard()
        #expect(!input.isPaused && input.unreadBytes == 0 && input.resumeDeadline == .max)
    }

    @Test func aHeldReadIsReleasedOnce() {
        var input = ConnectionInput()
        #expect(input.releaseRead() == false)
        input.holdRead()
        input.holdRead()
        #expect(input.releaseRead() == true)
        #expect(input.releaseRead() == false)
    }
}
