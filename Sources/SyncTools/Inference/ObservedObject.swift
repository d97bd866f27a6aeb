import SyncCore

/// What was seen of the objects in one place of the samples. A class: places nest, and are added to while reading.
final class ObservedObject {
    /// How many objects there were.
    private(set) var count = 0
    /// The keys in the order they were first seen.
    private(set) var keys: [String] = []
    private(set) var members: [String: ObservedValue] = [:]
    /// What was said of objects that have an id: to see whether two places hold the same things.
    private(set) var things = KnownThings()
    /// What their id may be called.
    let names: KeyNames

    /// Where there are lists inside a sample that is one object without an id, and what the object looks like.
    var listPaths: [[String]] = []
    var shape: DocumentShape?

    /// The objects under all its keys, if it is used as a dictionary of records.
    private(set) lazy var keyedRecords: ObservedObject? = recordsOfMembers()

    /// - Parameter entity: What the objects are of, as far as that is known.
    init(entity: String = "") { names = KeyNames(entity: entity) }

    /// - Parameter primaryKey: The JSON keys that identify the object, if they are none of its ``names``.
    func observe(_ object: JSONValue, primaryKey: [String]? = nil) {
        guard case .object(let found) = object else { return }
        count += 1
        let id = id(of: object, primaryKey)
        for member in found { observed(member.key).observe(member.value, ownedBy: id) }
        noteKinds(found)
        if let id { things.note(found, id: id) }
    }

    /// Notes of which kind the object under a key is, where that stands beside it: `commentable_type`.
    private func noteKinds(_ found: [JSONValue.Member]) {
        for case let (key, .string(kind)) in found.lazy.map({ ($0.key, $0.value) }) {
            guard let ending = ["_type", "Type", "-type"].first(where: key.hasSuffix) else { continue }
            members[String(key.dropLast(ending.count))]?.note(kind: kind)
        }
    }

    /// What is seen under a key.
    func observed(_ key: String) -> ObservedValue {
        if let known = members[key] { return known }
        let value = ObservedValue(key: key)
        keys.append(key)
        members[key] = value
        return value
    }

    /// Counts an object whose members are observed one by one.
    func note(_ members: [JSONValue.Member], id: String?) {
        count += 1
        if let id { things.note(members, id: id) }
    }

    /// Adds what was seen elsewhere, without what is nested there.
    func merge(
        _ other: ObservedObject, nested: (ObservedValue, ObservedValue) -> Void = { $0.merge($1) }
    ) {
        count += other.count
        listPaths += other.listPaths
        shape = shape ?? other.shape
        for key in other.keys {
            if let value = other.members[key] { nested(observed(key), value) }
        }
        things.merge(other.things)
    }

    /// The text of an object's id.
    func id(of object: JSONValue, _ primaryKey: [String]? = nil) -> String? {
        primaryKey.map { object.keyText(of: $0) } ?? names.id(of: object)
    }
}
