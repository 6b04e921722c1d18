import Canvas
import JSONBytes
import Wire

/// Turns a command from the wire into values, and takes the hash of its body.
enum CommandParser {
    /// The command, or the refusal that its fault deserves, with the hash of the known fields. A body that cannot be
    /// parsed is hashed as the bytes it is.
    static func parse(_ command: Command, limits: CommitterLimits) -> (PreparedCommand, UInt64) {
        var hash = BodyHash()
        switch command {
        case .transform(let element, let fields):
            hash.transform(element: element, fields)
            if fields.isEmpty { return (.refuse(Self.emptyTransform), hash.value) }
            return (.transform(element, fields), hash.value)
        case .create(let items, let single):
            return Self.create(items, single: single, limits: limits)
        case .update(let element, let set):
            do throws(Fault) {
                let changes = try Self.changes(set)
                hash.update(element: element, changes)
                return (.update(element, changes), hash.value)
            } catch {
                hash.unreadable(event: .updated, element: element, body: set)
                return (.refuse(error.refusal), hash.value)
            }
        case .delete(let element):
            hash.delete(element: element)
            return (.delete(element), hash.value)
        case .refuse(let refusal, let bodyHash):
            // A retriable code would be remembered as if it were final; the gateway keeps those to itself.
            let final = refusal.code.isRetriable ? Refusal(.invalid, refusal.message, field: refusal.field) : refusal
            return (.refuse(final), bodyHash)
        }
    }

    private static let emptyTransform = Refusal(
        .invalid, "A transform needs a position or a transform field.", field: "transform")

    private static func create(
        _ items: [CreateItem], single: Bool, limits: CommitterLimits
    ) -> (PreparedCommand, UInt64) {
        var hash = BodyHash()
        hash.create(count: items.count, single: single)
        var elements: [PreparedElement] = []
        elements.reserveCapacity(items.count)
        var fault: Refusal?
        if items.isEmpty { fault = Refusal(.invalid, "There is no element to create.", field: "elements") }
        if items.count > limits.elementsPerCommit {
            fault = Refusal(
                .tooLarge, "At most \(limits.elementsPerCommit) elements at once.", field: "elements")
        }
        var document = JSONDocument()
        for (index, item) in items.enumerated() {
            let path = single ? "element" : "elements[\(index)]"
            do throws(Fault) {
                let fields = try Self.newElement(item.json, path: path, document: &document)
                hash.element(id: item.idIsGenerated ? nil : item.id, fields)
                elements.append(PreparedElement(id: item.id, fields: fields))
            } catch {
                hash.unreadable(event: .created, element: item.idIsGenerated ? "" : item.id, body: item.json)
                fault = fault ?? error.refusal
            }
        }
        if let fault { return (.refuse(fault), hash.value) }
        return (.create(elements, single: single), hash.value)
    }

    private static func newElement(
        _ json: [UInt8], path: String, document: inout JSONDocument
    ) throws(Fault) -> NewElement {
        do { try document.parse(json) } catch { throw Fault(Refusal(.invalid, "Not well-formed JSON.", field: path)) }
        do { return try ElementInput.newElement(document.root, path: path) } catch { throw Fault(error) }
    }

    private static func changes(_ json: [UInt8]) throws(Fault) -> ElementChanges {
        var document = JSONDocument()
        do { try document.parse(json) } catch { throw Fault(Refusal(.invalid, "Not well-formed JSON.", field: "set")) }
        do { return try ElementInput.changes(document.root) } catch { throw Fault(error) }
    }

    /// A fault of a body.
    private struct Fault: Error {
        let refusal: Refusal

        init(_ refusal: Refusal) {
            self.refusal = refusal
        }

        init(_ error: FieldError) {
            self.refusal = Refusal(error.tooLarge ? .tooLarge : .invalid, error.message, field: error.field)
        }
    }
}
