extension PredicateResolver {
    /// A comparison of a to-one relationship with keys of several parts, part by part; nil for any other.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` for a value that is no such key.
    func parts(of comparison: PredicateComparison) throws -> PredicateNode? {
        let path = comparison.path
        guard path.quantifier == nil, comparison.literal != .null,
            case .relationship(let last) = try PredicateRoute(path, from: root, in: model, at: comparison.pathPlace).end,
            !last.isToMany, let key = model.entities[last.destination].compositeKey
        else { return nil }
        let destination = model.entities[last.destination]
        func node(_ literal: PredicateLiteral) throws -> PredicateNode {
            if literal == .null { return .comparison(PredicateComparison(isNil: path)) }
            guard case .text(let text) = literal, let json = try? JSONValue(parsing: text),
                let found = model.rowKey(json, of: destination),
                case .parts(let values) = found.recordKey(model.keyType(of: destination.id))
            else {
                throw comparison.valuePlace.error(
                    "\(literal.kind) is no key of \(destination.name), \(model.keyDescription(of: destination))",
                    entity: root.name)
            }
            let names = model.keyNames(of: destination)
            let parts = try zip(zip(key.parts, names), values).map { part, value in
                let path = PredicatePath(components: path.components + [part.1])
                return PredicateNode.comparison(
                    try PredicateComparison(
                        path, .equal, PredicateValue(value.literal), names: Set(path.components),
                        pathPlace: comparison.pathPlace, valuePlace: comparison.valuePlace))
            }
            return .all(of: parts)
        }
        switch (comparison.operator, comparison.literal) {
        case (.equal, let literal): return try node(literal)
        case (.notEqual, let literal): return .not(try node(literal))
        case (.in, .list(let literals)):
            return literals.isEmpty ? .constant(false) : .any(of: try literals.map(node))
        default:
            throw comparison.pathPlace.error(
                "a key of several parts is compared with ==, != or IN; \(path.name) leads to such a key",
                entity: root.name)
        }
    }
}

extension RecordKey {
    /// The key as a condition has it.
    fileprivate var literal: PredicateLiteral {
        switch self {
        case .integer(let value): .number(String(value))
        case .double(let value): .number("\(value)")
        case .text(let text): .text(text)
        case .parts: .text(description)
        }
    }
}
