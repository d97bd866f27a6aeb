import ArgumentParser
import Sync

/// `--parent User:6`, `--parent User:6:notes`, or `--parent 'Issue:["swift",5]'`.
struct ParentArgument: ExpressibleByArgument, Equatable {
    let entity: String
    let id: String
    let relationship: String?

    /// Splits at the first colon, and at the last one if a name follows it: ids such as dates have colons too.
    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":") else { return nil }
        entity = String(argument[..<colon])
        let rest = argument[argument.index(after: colon)...]
        if let last = rest.lastIndex(of: ":"), Self.isName(rest[rest.index(after: last)...]) {
            id = String(rest[..<last])
            relationship = String(rest[rest.index(after: last)...])
        } else {
            id = String(rest)
            relationship = nil
        }
        guard !entity.isEmpty, !id.isEmpty else { return nil }
    }

    /// The key as JSON: text is coerced to every type a key can have; one of several parts is a list or an object.
    var parent: Sync.Parent { (entity, JSONValue(keyArgument: id)) }

    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.first, first.isLetter || first == "_" else { return false }
        return text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }
}

extension JSONValue {
    /// A key as it is written at a shell: text, which is read by the type of the key; of several parts a list or an object.
    init(keyArgument text: String) {
        let parts = text.hasPrefix("[") || text.hasPrefix("{") ? try? JSONValue(parsing: text) : nil
        self = parts ?? .string(text)
    }
}
