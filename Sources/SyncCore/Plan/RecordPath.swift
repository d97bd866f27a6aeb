/// Where a record stands in a payload: which root record it is or is nested in, and the way from there.
struct RecordPath: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        case index(Int)
        case key(String)
    }

    var root: Int
    var steps: [Step]
}

extension RecordPath {
    func value(in records: [JSONValue]) -> JSONValue? {
        guard records.indices.contains(root) else { return nil }
        var value = records[root]
        for step in steps {
            switch (step, value) {
            case (.index(let index), .array(let elements)) where elements.indices.contains(index):
                value = elements[index]
            case (.key(let key), _):
                guard let member = value[key] else { return nil }
                value = member
            default: return nil
            }
        }
        return value
    }

    func replace(in records: inout [JSONValue], with value: JSONValue) {
        guard records.indices.contains(root) else { return }
        records[root] = Self.replacing(steps[...], in: records[root], with: value)
    }

    /// The tree with another value at the end of the way.
    private static func replacing(_ steps: ArraySlice<Step>, in tree: JSONValue, with value: JSONValue) -> JSONValue {
        guard let step = steps.first else { return value }
        switch (step, tree) {
        case (.index(let index), .array(var elements)) where elements.indices.contains(index):
            elements[index] = replacing(steps.dropFirst(), in: elements[index], with: value)
            return .array(elements)
        case (.key(let key), .object(var members)):
            guard let index = members.lastIndex(where: { $0.key.utf8.elementsEqual(key.utf8) }) else { return tree }
            members[index].value = replacing(steps.dropFirst(), in: members[index].value, with: value)
            return .object(members)
        default: return tree
        }
    }
}
