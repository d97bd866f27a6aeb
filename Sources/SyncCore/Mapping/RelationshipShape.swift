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

    /// - Parameter areIDs: Whether only ids may stand there, so that an object is one that names its parts.
    init(_ tape: JSONTape, at index: Int, _ relationship: RelationshipMapping, areIDs: Bool = false) {
        self = Self.shape(tape, at: index)
        guard relationship.hasPartedIDs else { return }
        switch (self, relationship.isToMany) {
        case (.objects, false), (.scalars, false), (.empty, false), (.other, false):
            if tape.tokens[index].kind == .array { self = .scalar }
        case (.other, true):
            if Self.isList(of: areIDs ? [.array, .object, .null] : [.array, .null], at: index, tape) {
                self = .scalars
            }
        case (.object, false) where areIDs: self = .scalar
        case (.objects, true) where areIDs: self = .scalars
        default: break
        }
    }

    private static func shape(_ tape: JSONTape, at index: Int) -> RelationshipShape {
        switch tape.tokens[index].kind {
        case .null: .null
        case .object: .object
        case .string, .number: .scalar
        case .true_, .false_: .other
        case .array: list(tape, at: index)
        }
    }

    /// Whether all elements of an array are of these kinds.
    private static func isList(of kinds: [JSONTape.Kind], at list: Int, _ tape: JSONTape) -> Bool {
        guard tape.tokens[list].kind == .array else { return false }
        var element = list + 1
        while element < Int(tape.tokens[list].next) {
            guard kinds.contains(tape.tokens[element].kind) else { return false }
            element = Int(tape.tokens[element].next)
        }
        return true
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
