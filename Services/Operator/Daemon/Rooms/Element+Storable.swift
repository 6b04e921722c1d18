internal import Canvas

extension Element {
    /// Checks what the rules of no type would adjust, but apps count on.
    /// - Throws: the first field that is out of its range.
    func checkStorable() throws(FieldError) {
        for (name, text) in [("createdBy", self.createdBy), ("updatedBy", self.updatedBy)]
        where !(1...256).contains(text.utf8.count) {
            throw FieldError(field: name, message: "It has 1 to 256 bytes.")
        }
        // Beyond it JavaScript does not tell one number from the next.
        guard (1..<1 << 53).contains(self.rev) else {
            throw FieldError(field: "rev", message: "It is from 1 to 9007199254740991.")
        }
        guard (0..<360).contains(self.rotation) else {
            throw FieldError(field: "rotation", message: "It is from 0 to below 360.")
        }
    }
}
