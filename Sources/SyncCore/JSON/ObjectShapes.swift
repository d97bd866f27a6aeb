/// The sets of keys that objects had, in order: an object with the same keys as one before need not be sorted, nor are
/// the texts of its keys stored again.
struct ObjectShapes {
    /// One key of an object.
    struct Key {
        let name: String
        /// Where its text is stored.
        let text: Range<Int>
    }

    /// Objects of one size seldom have many sets of keys, and where they do, each one that does not fit costs a look-up.
    private static let limit = 4
    private static let maximumCount = 64

    /// By the number of keys.
    private var shapes: [[[Key]]] = []

    /// The keys of an object if its shape is known, and where its members stand, appended in the order of the keys.
    mutating func keys(of object: [String: Any], members: inout [Dictionary<String, Any>.Index]) -> [Key]? {
        guard object.count < shapes.count else { return nil }
        let first = members.count
        for keys in shapes[object.count] {
            if Self.locate(keys, in: object, &members) { return keys }
            members.removeLast(members.count - first)
        }
        return nil
    }

    /// A dictionary also finds a key that only looks alike, such as one with a Kelvin sign for a K. Of such keys only one
    /// is ASCII, and it is shorter than the others.
    private static func locate(
        _ keys: [Key], in object: [String: Any], _ members: inout [Dictionary<String, Any>.Index]
    ) -> Bool {
        for key in keys {
            guard let index = object.index(forKey: key.name), object.keys[index].utf8.count == key.text.count else {
                return false
            }
            members.append(index)
        }
        return true
    }

    /// Keeps keys in their order, if they are ASCII.
    mutating func remember(_ keys: [Key]) {
        guard keys.count <= Self.maximumCount, keys.allSatisfy({ $0.name.utf8.allSatisfy { $0 < 0x80 } }) else {
            return
        }
        while shapes.count <= keys.count { shapes.append([]) }
        if shapes[keys.count].count < Self.limit { shapes[keys.count].append(keys) }
    }
}
