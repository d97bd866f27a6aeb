// How records are laid out in JSON.
extension SchemaReader {
    static let discriminatorKeys = ["key", "values", "otherwise"]

    /// `"keyedBy": "iso"`, or `true` for the primary key.
    mutating func memberNames(_ object: inout SchemaObject) -> MemberNames? {
        switch object["keyedBy"] {
        case nil, .bool(false)?: nil
        case .bool(true)?: .primaryKey
        case .string?: object.text("keyedBy", &draft).map { .attribute($0) }
        case let value?:
            notedNames(&object, value)
        }
    }

    private mutating func notedNames(_ object: inout SchemaObject, _ value: JSONValue) -> MemberNames? {
        object.note(&draft, "keyedBy", "expected the name of an attribute, or true, found \(value.kindName)")
        return nil
    }

    /// `"discriminator": {"key": "type", "values": {"dog": "Dog"}, "otherwise": "skip"}`.
    mutating func discriminator(_ entity: inout SchemaObject) -> SyncModel.Discriminator? {
        guard let value = entity["discriminator"] else { return nil }
        let path = entity.path["discriminator"]
        guard var object = SchemaObject(value, at: path, keys: Self.discriminatorKeys, noting: &draft) else {
            return nil
        }
        for key in ["key", "values"] where object[key] == nil { object.note(&draft, key, "is missing") }
        var kinds: [SyncModel.Discriminator.Kind] = []
        for (name, value) in members(of: object["values"] ?? .object([]), at: path["values"]) {
            if case .string(let entity) = value {
                kinds.append(.init(name, entity))
            } else {
                draft.note(path["values"][name], "expected the name of an entity, found \(value.kindName)")
            }
        }
        guard let key = object.text("key", &draft), !object.hasProblems else { return nil }
        let otherwise = object.choice("otherwise", SyncModel.Discriminator.Otherwise.self, &draft) ?? .skip
        return SyncModel.Discriminator(key, kinds: kinds, otherwise: otherwise)
    }
}
