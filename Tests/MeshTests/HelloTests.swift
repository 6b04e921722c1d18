import Testing
import Wire

@testable import Mesh

struct HelloTests {
    private let identity = LinkIdentity(name: "committer-0", versions: version...version, greeting: [1, 2, 3])

    private func decode(_ bytes: [UInt8]) throws -> Hello {
        // Not aligned, as in a message.
        let shifted = [0] + bytes
        return try shifted.withUnsafeBytes { whole in
            try Hello(UnsafeRawBufferPointer(rebasing: whole[1...]))
        }
    }

    @Test func goldenBytes() throws {
        let hello = Hello(self.identity, instance: 0x0102_0304_0506_0708, incarnation: 9)
        let golden: [UInt8] =
            [0, 1, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 9, 11] + Array("committer-0".utf8) + [1, 2, 3]
        #expect(hello.encoded() == golden)
        #expect(try self.decode(golden) == hello)
    }

    @Test func aRangeOfVersionsIsTheOldestAndHowManyFollow() throws {
        var identity = self.identity
        identity.versions = 7...9
        let hello = Hello(identity, instance: 0x0102_0304_0506_0708, incarnation: 0x0300_0009)
        let golden: [UInt8] =
            [0, 1, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8, 2, 0, 0, 9, 11] + Array("committer-0".utf8) + [1, 2, 3]
        #expect(hello.encoded() == golden)
        #expect(try self.decode(golden) == hello)
        #expect(hello.versions == 7...9 && hello.incarnation == 9)
    }

    @Test func versionsBeyondTheLastNumberAreMalformed() {
        let last: [UInt8] = [0, 1, 0xff, 0xff, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 9, 1, 0x61]
        #expect(throws: Never.self) { try self.decode(last) }
        var beyond = last
        beyond[12] = 1
        #expect(throws: Hello.Failure.malformed) { try self.decode(beyond) }
    }

    @Test func anotherMeshIsNamed() {
        #expect(throws: Hello.Failure.meshVersion(2)) { try self.decode([0, 2, 0, 7]) }
    }

    @Test func cutsFlipsAndNoiseNeverTrap() throws {
        let bytes = Hello(self.identity, instance: 5, incarnation: 6).encoded()
        for length in 0..<28 { #expect(throws: Hello.Failure.self) { try self.decode(Array(bytes.prefix(length))) } }
        for index in bytes.indices {
            for bit in 0..<8 {
                var flipped = bytes
                flipped[index] ^= 1 << bit
                if let hello = try? self.decode(flipped) { #expect(Hello.isValidName(hello.name.utf8)) }
            }
        }
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        for _ in 0..<5000 {
            let noise = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if let hello = try? self.decode([0, 1, 0, 7] + noise) {
                #expect(hello.encoded() == [0, 1, 0, 7] + noise, "seed \(seed)")
            }
        }
        let long = bytes + [UInt8](repeating: 0, count: Hello.maximumGreetingBytes)
        #expect(throws: Hello.Failure.malformed) { try self.decode(long) }
    }

    @Test(arguments: ["", "a b", "ä", "a\n", "a/b", String(repeating: "x", count: 65)])
    func namesThatAreNotFitForALog(name: String) { #expect(!Hello.isValidName(name.utf8)) }
}
