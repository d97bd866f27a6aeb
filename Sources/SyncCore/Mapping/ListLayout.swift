/// How the records of a list stand in JSON.
package enum ListLayout {
    case array
    /// An object: each member is a record, or says by its name which.
    case members
    /// The arrays of a GraphQL connection.
    case nodes, edges
}

/// A list that is no array under its key.
package struct PlacedList {
    /// Its token: an array, or an object of members.
    package let token: Int
    package let layout: ListLayout
    /// Whether it has all there is, and not the first page of it.
    var isWhole = true
    /// Whether its members are `true`, so that only their names say something.
    var hasNamesOnly = false
}

extension PlacedList {
    /// An object whose members are records, or all `true`; nil if they are something else.
    package init?(membersOf object: Int, _ tape: JSONTape) {
        var objects = false
        var flags = false
        var key = object + 1
        while key < Int(tape.tokens[object].next) {
            switch tape.tokens[key + 1].kind {
            case .null: break
            case .object: objects = true
            case .true_: flags = true
            default: return nil
            }
            key = Int(tape.tokens[key + 1].next)
        }
        if objects, flags { return nil }
        self.init(token: object, layout: .members, hasNamesOnly: flags)
    }

    /// The `nodes` or `edges` of a connection, whose records are all objects; nil if the object is none.
    package init?(connection object: Int, _ tape: JSONTape, in bytes: UnsafeBufferPointer<UInt8>) {
        let nodes = tape.member(named: "nodes", of: object, in: bytes)
        guard let list = nodes ?? tape.member(named: "edges", of: object, in: bytes),
            tape.tokens[list].kind == .array
        else { return nil }
        var element = list + 1
        var hasNulls = false
        while element < Int(tape.tokens[list].next) {
            switch tape.tokens[element].kind {
            case .null: hasNulls = true
            case .object:
                if nodes == nil, let node = tape.member(named: "node", of: element, in: bytes),
                    tape.tokens[node].kind == .null
                {
                    hasNulls = true
                }
            default: return nil
            }
            element = Int(tape.tokens[element].next)
        }
        func hasMore(_ flag: StaticString, _ page: Int) -> Bool {
            guard let flag = tape.member(named: flag, of: page, in: bytes) else { return false }
            return tape.tokens[flag].kind == .true_
        }
        var isWhole = !hasNulls
        if let page = tape.member(named: "pageInfo", of: object, in: bytes), tape.tokens[page].kind == .object {
            isWhole = isWhole && !hasMore("hasNextPage", page) && !hasMore("hasPreviousPage", page)
        }
        self.init(token: list, layout: nodes == nil ? .edges : .nodes, isWhole: isWhole)
    }
}
