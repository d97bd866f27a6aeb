import SyncCore

/// What the key of an entity may be called where nobody says otherwise: `id` first, `<entity>_id` last.
struct KeyNames: Sendable {
    /// Names that say key whatever the entity is called.
    static let common = ["id", "_id", "Id", "ID", "uuid", "objectId"]
    /// Of these the ones that an object without a readable key may not have: it is no row without a key then.
    static let ids = ["id", "_id", "Id", "ID"]

    /// The entity's name with `id`, without regard to case and separators.
    private let own: String

    init(entity: String) { own = Self.folded(entity) + "id" }

    /// Whether a key is the entity's name with `id`, in any spelling: `user_id`, `userId`, `UserID`.
    func isOwn(_ key: String) -> Bool {
        guard key.utf8.count >= own.utf8.count, key.utf8.count <= own.utf8.count + own.utf8.count else { return false }
        return Self.folded(key) == own
    }

    /// The names among these keys, the strongest first.
    func names(in keys: [String]) -> [String] { Self.common + keys.filter(isOwn) }

    private static func folded(_ name: String) -> String {
        name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != " " }
    }

    /// The text of the id of an object that does not say under which of the names it stands.
    func id(of object: JSONValue) -> String? {
        for key in Self.common {
            if let text = object[key]?.keyText { return text }
        }
        guard case .object(let members) = object else { return nil }
        return members.first { isOwn($0.key) }?.value.keyText
    }
}

extension JSONValue {
    /// The text of a number or a string: of what can be a key.
    var keyText: String? {
        switch self {
        case .number(let text), .string(let text): text
        default: nil
        }
    }

    /// The text of a key of several parts, of which each is there.
    func keyText(of parts: [String]) -> String? {
        if parts.count == 1 { return self[parts[0]]?.keyText }
        var text = ""
        for part in parts {
            guard let value = self[part]?.keyText else { return nil }
            text += "\(value.utf8.count):\(value)"
        }
        return text
    }
}
