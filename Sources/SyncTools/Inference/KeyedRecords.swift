import SyncCore

// Objects that are used as dictionaries of records: {"de": {"text": …}, "fr": {"text": …}}.
extension ObservedObject {
    /// So many different names are no roles that a thing has.
    private static let manyNames = 4

    /// The objects under all keys, if these are data: each has objects that are alike and have no id, and the keys are no
    /// words, or not the same in each object, or many.
    ///
    /// Objects with an id are told apart by that: under which key they stand is a role of theirs.
    func recordsOfMembers() -> ObservedObject? {
        guard keys.count > 1, areNamesData else { return nil }
        let records = ObservedObject()
        var common: Set<String>?
        for key in keys {
            guard let value = members[key], let object = value.object, value.singles > 0,
                value.singles + value.scalars.nulls == value.count, !object.keys.isEmpty
            else { return nil }
            if KeyNames.common.contains(where: { object.members[$0] != nil }) { return nil }
            let found = Set(object.keys)
            if let known = common, known != found { return nil }
            common = common ?? found
        }
        for key in keys {
            if let object = members[key]?.object { records.add(object) }
        }
        return records.isRecordLike ? records : nil
    }

    private var areNamesData: Bool {
        keys.count >= Self.manyNames || keys.contains { !Self.isWord($0) }
            || keys.contains { members[$0]?.count ?? 0 < count }
    }

    /// Whether the objects are records rather than dictionaries, whose keys are data: most objects have most keys,
    /// and the keys are words.
    var isRecordLike: Bool {
        guard !keys.isEmpty, keys.allSatisfy(Self.isWord) else { return false }
        let values = members.values.reduce(0) { $0 + $1.count }
        return values * 2 >= keys.count * count
    }

    private static func isWord(_ key: String) -> Bool {
        guard let first = key.first, first.isLetter || first == "_" || first == "@" else { return false }
        return key.dropFirst().allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
    }

    /// A name for the attribute that the names of members fill, which no key of the records is like.
    var nameOfNames: String {
        let taken = Set(keys.map { Inflection.memberName($0).lowercased() })
        return ["key", "name", "memberName"].first { !taken.contains($0.lowercased()) } ?? "nameOfMember"
    }
}
