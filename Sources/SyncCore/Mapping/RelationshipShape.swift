/// The form that the value of a relationship has in JSON.
enum RelationshipShape {
    case null
    case object
    /// An ID: a string or number. For composite keys, an array or object.
    case id
    /// A list of objects: an array, a GraphQL connection, or the members of an object. It may contain nulls.
    case records(NestedListLayout)
    /// A list of IDs: an array, or an object with the IDs as object keys. It may contain nulls.
    case ids(NestedListLayout)
    /// An empty list, or a list of nulls. For an empty GraphQL page of a longer list, `hasNulls` is true.
    case empty(hasNulls: Bool)
    /// `true`, `false`, a list that has one of these or an array, or a list of both objects and IDs.
    case other

    /// Determines the shape of a value.
    ///
    /// - Parameters:
    ///   - areIDs: Whether the key is for IDs only, so that an object is a composite ID.
    ///   - readsConnections: Whether an object can be a GraphQL connection.
    init(
        _ tape: JSONTape, at index: Int, of relationship: RelationshipMapping, areIDs: Bool = false,
        readsConnections: Bool, _ bytes: UnsafeBufferPointer<UInt8>
    ) {
        self = Self.shape(tape, at: index)
        if relationship.hasCompositeIDs { readCompositeIDs(tape, at: index, isToMany: relationship.isToMany, areIDs) }
        if case .object = self, relationship.isToMany {
            readNestedList(tape, at: index, of: relationship, readsConnections, bytes)
        }
    }

    private static func shape(_ tape: JSONTape, at index: Int) -> RelationshipShape {
        switch tape.tokens[index].kind {
        case .null: .null
        case .object: .object
        case .string, .number: .id
        case .true_, .false_: .other
        case .array: list(tape, at: index)
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
        case (true, false): return .records(NestedListLayout(token: index, layout: .array))
        case (false, true): return .ids(NestedListLayout(token: index, layout: .array))
        case (false, false): return .empty(hasNulls: end > index + 1)
        }
    }

    /// Corrects the shape for composite IDs, which are arrays. Under a key for IDs only they can also be objects.
    private mutating func readCompositeIDs(_ tape: JSONTape, at index: Int, isToMany: Bool, _ areIDs: Bool) {
        let list = NestedListLayout(token: index, layout: .array)
        switch (self, isToMany) {
        case (.records, false), (.ids, false), (.empty, false), (.other, false):
            if tape.tokens[index].kind == .array { self = .id }
        case (.other, true):
            if Self.isList(of: areIDs ? [.array, .object, .null] : [.array, .null], at: index, tape) {
                self = .ids(list)
            }
        case (.object, false) where areIDs: self = .id
        case (.records, true) where areIDs: self = .ids(list)
        default: break
        }
    }

    /// Returns whether a value is an array with elements of only these token kinds.
    private static func isList(of kinds: [JSONTape.Kind], at list: Int, _ tape: JSONTape) -> Bool {
        guard tape.tokens[list].kind == .array else { return false }
        var element = list + 1
        while element < Int(tape.tokens[list].next) {
            guard kinds.contains(tape.tokens[element].kind) else { return false }
            element = Int(tape.tokens[element].next)
        }
        return true
    }

    /// Corrects the shape for an object that is a list: a GraphQL connection, or an object with records or IDs as
    /// members.
    private mutating func readNestedList(
        _ tape: JSONTape, at index: Int, of relationship: RelationshipMapping, _ readsConnections: Bool,
        _ bytes: UnsafeBufferPointer<UInt8>
    ) {
        var found: NestedListLayout?
        if readsConnections { found = NestedListLayout(connection: index, tape, in: bytes) }
        if found == nil, relationship.nameSlot >= 0 { found = NestedListLayout(membersOf: index, tape) }
        guard let list = found else { return }
        // Members with the value `true` are IDs only if object keys are primary keys.
        if list.hasNamesOnly, !relationship.areNamesKeys { return }
        if tape.tokens[list.token].length == 0 {
            // An empty page states nothing about the rows of other pages.
            self = .empty(hasNulls: !list.isWhole)
        } else {
            self = list.hasNamesOnly ? .ids(list) : .records(list)
        }
    }

    /// Returns whether a value of this shape fits a to-many relationship, or a to-one relationship if `toMany` is
    /// false.
    func fits(toMany: Bool) -> Bool {
        switch self {
        case .null: true
        case .object, .id: !toMany
        case .records, .ids, .empty: toMany
        case .other: false
        }
    }
}

/// Iterates over the elements of a list in any layout.
struct ListElements {
    struct Element {
        /// The token of the element, or of the name of a member.
        let token: Int
        /// The token of the record, of the ID, of null, or of `true` under an object key.
        let value: Int
        let index: Int
    }

    private let layout: ListLayout
    private var next: Int
    private let end: Int
    private var index = 0

    init(of list: NestedListLayout, _ tape: JSONTape) {
        layout = list.layout
        next = list.token + 1
        end = Int(tape.tokens[list.token].next)
    }

    @inline(__always)
    mutating func next(_ tape: JSONTape, _ bytes: UnsafeBufferPointer<UInt8>) -> Element? {
        guard next < end else { return nil }
        let token = next
        var value = token
        switch layout {
        case .array, .nodes: break
        case .members: value = token + 1
        case .edges:
            // An edge without a `node` is treated as a record, so that it is reported as a record without a key.
            if tape.tokens[token].kind == .object { value = tape.member(named: "node", of: token, in: bytes) ?? token }
        }
        next = Int(tape.tokens[layout == .members ? value : token].next)
        defer { index += 1 }
        return Element(token: token, value: value, index: index)
    }
}
