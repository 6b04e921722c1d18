import Testing

@testable import Trust

@Suite struct KeyPairTests {
    /// The test vector of ZeroMQ RFC 32.
    @Test func textIsThatOfZeroMQ() {
        let bytes: [UInt8] = [0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B]
        #expect(Z85.encode(bytes) == "HelloWorld")
        #expect(Z85.decode("HelloWorld".utf8) == bytes)
    }

    @Test func everyKeyHasOneText() {
        for _ in 0..<100 {
            let key = KeyPair().publicKey
            #expect(PublicKey(text: key.description.utf8) == key)
        }
        // One more than the largest number of four bytes.
        #expect(Z85.decode("%nSc1".utf8) == nil)
        #expect(Z85.decode("%nSc0".utf8) == [255, 255, 255, 255])
        #expect(Z85.decode("0000,".utf8) == nil)
        #expect(Z85.decode("0000".utf8) == nil)
    }

    @Test func fileHasBothKeys() throws {
        let pair = KeyPair()
        #expect(try KeyPair(parsing: Array(pair.fileText.utf8)) == pair)
        #expect(try KeyPair(parsing: Array("\n# mine\nsecret \(Z85.encode(pair.secretBytes))".utf8)) == pair)
    }

    @Test func filesWithoutTheSecretAreRefused() {
        let pair = KeyPair()
        let secret = Z85.encode(pair.secretBytes)
        for (text, reason) in [
            ("", "contains no secret key"),
            ("public \(pair.publicKey)\n", "contains no secret key"),
            ("secret \(secret)\nsecret \(secret)\n", "line 2: there is a secret key already"),
            ("secret \(secret.dropLast())\n", "line 1: the key is not 40 characters of Z85"),
            ("#\n\(secret)\n", "line 2 is neither \"public KEY\" nor \"secret KEY\""),
            (
                "public \(KeyPair().publicKey)\nsecret \(secret)\n",
                "contains a public key that does not belong to its secret key"
            ),
        ] {
            #expect(throws: KeyPair.Failure(description: reason)) { try KeyPair(parsing: Array(text.utf8)) }
        }
    }

    @Test func secretIsNeverPrinted() {
        let pair = KeyPair()
        #expect("\(pair)" == pair.publicKey.description)
        #expect(!String(reflecting: pair).contains(Z85.encode(pair.secretBytes)))
    }
}
