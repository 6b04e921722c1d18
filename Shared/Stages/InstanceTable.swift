/// What a sender keeps for each instance of a stage, by the instances' numbers, in the order of the numbers.
///
/// A stage has few instances, and their numbers grow: a search is cheaper than a hash, and the order is the same in
/// every process. Public, so that it is specialized and inlined in other modules.
public struct InstanceTable<Value> {
    /// The numbers that have a value, ascending.
    public var numbers: [Int] { self.keys }
    @usableFromInline var keys: [Int] = []
    /// Theirs; nil only while one is being changed.
    @usableFromInline var values: [Value?] = []

    /// An empty table.
    @inlinable
    public init() {}

    /// The position of a number, or the one where it belongs.
    @inlinable
    func position(of number: Int) -> (index: Int, isThere: Bool) {
        let index = self.keys.firstIndex { $0 >= number } ?? self.keys.count
        return (index, index < self.keys.count && self.keys[index] == number)
    }

    /// The value of an instance; nil when there is none. Setting nil removes it.
    @inlinable
    public subscript(number: Int) -> Value? {
        get {
            let (index, isThere) = self.position(of: number)
            return isThere ? self.values[index] : nil
        }
        _modify {
            let (index, isThere) = self.position(of: number)
            var value = isThere ? self.values[index].take() : nil
            defer { self.put(value, at: index, isThere, number) }
            yield &value
        }
    }

    /// The value of an instance, which gets this one when it has none yet.
    @inlinable
    public subscript(number: Int, default value: @autoclosure () -> Value) -> Value {
        get { self[number] ?? value() }
        _modify {
            let (index, isThere) = self.position(of: number)
            var value = (isThere ? self.values[index].take() : nil) ?? value()
            defer { self.put(value, at: index, isThere, number) }
            yield &value
        }
    }

    @inlinable
    mutating func put(_ value: consuming Value?, at index: Int, _ isThere: Bool, _ number: Int) {
        switch (isThere, value == nil) {
        case (true, false): self.values[index] = value
        case (true, true):
            self.keys.remove(at: index)
            self.values.remove(at: index)
        case (false, false):
            self.keys.insert(number, at: index)
            self.values.insert(value, at: index)
        case (false, true): break
        }
    }

    /// True when the instance has a value.
    public func contains(_ number: Int) -> Bool { self.position(of: number).isThere }

    /// All values, in the order of the numbers.
    public var all: some Sequence<Value> { self.values.lazy.compactMap(\.self) }
}

extension InstanceTable: Sendable where Value: Sendable {}
