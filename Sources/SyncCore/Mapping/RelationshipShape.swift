/// What stands under a relationship's key, whatever the relationship.
enum RelationshipShape {
    case null
    case object
    /// A string or number.
    case scalar
    /// An array of objects, nulls aside.
    case objects
    /// An array of strings and numbers, nulls aside.
    case scalars
    /// An array without elements, or of nulls only.
    case empty(hasNulls: Bool)
    /// A list that is no array: records by name, or a connection.
    case placed(PlacedList)
    /// `true`, `false`, nested arrays, or a mixture.
    case other

    init(_ tape: JSONTape, at index: Int) {
        switch tape.tokens[index].kind {
        case .null: self = .null
        case .object: self = .object
        case .string, .number: self = .scalar
        case .true_, .false_: self = .other
        case .array: self = Self.list(tape, at: index)
        }
    }

    private static func list(_ tape: JSONTape, at index: Int) -> RelationshipShape {
        var objects = false
        var scalars = false
        var element = index + 1
        let end = Int(tape.tokens[index].next)
        while element < end {
            switch tape.tokens[element].kind {
            case .null: break
            case .object: objects = true
            case .string, .number: scalars = true
            default: return .other
            }
            element = Int(tape.tokens[element].next)
        }
        switch (objects, scalars) {
        case (true, true): return .other
        case (true, false): return .objects
        case (false, true): return .scalars
        case (false, false): return .empty(hasNulls: end > index + 1)
        }
    }

    /// Whether it can stand for a relationship of this kind.
    func fits(toMany: Bool) -> Bool {
        switch self {
        case .null: true
        case .object, .scalar: !toMany
        case .objects, .scalars, .empty, .placed: toMany
        case .other: false
        }
    }
}
