extension [UInt8] {
    /// The line that contains a byte, from 1.
    func line(at offset: Int) -> Int {
        1 + self.prefix(offset).count { $0 == UInt8(ascii: "\n") }
    }
}
