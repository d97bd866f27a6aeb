extension PredicateResolver {
    /// - Throws: ``SyncError`` `invalidPredicate` for what cannot be calculated or compared.
    func resolved(_ calculation: PredicateCalculation) throws -> ResolvedCalculation {
        let types = (try type(of: calculation.left), try type(of: calculation.right))
        // A literal is of the other's type.
        guard let known = types.0 ?? types.1 else {
            throw calculation.place.error("both sides are constants", entity: root.name)
        }
        let (first, second) = (
            types.0 ?? calculation.left.literalType(beside: known),
            types.1 ?? calculation.right.literalType(beside: known)
        )
        let isMixed = Set([first, second]) == [.integer, .double]
        guard isMixed || first == second else {
            throw calculation.place.error("\(first.rawValue) and \(second.rawValue) do not compare", entity: root.name)
        }
        let type = isMixed ? .double : first
        guard Self.areComparable(type) else {
            throw calculation.place.error(
                "values of the type \(type.rawValue) are not compared with each other", entity: root.name)
        }
        guard let test = ResolvedCalculation.Test(calculation.operator) else {
            throw calculation.place.error(
                "\(calculation.operator.rawValue) compares with a constant only", entity: root.name)
        }
        return ResolvedCalculation(
            left: try resolved(calculation.left, as: type), test: test,
            right: try resolved(calculation.right, as: type),
            type: type)
    }

    /// Those that are kept as they compare.
    private static func areComparable(_ type: AttributeType) -> Bool {
        switch type {
        case .integer, .double, .boolean, .string, .date, .uuid, .url: true
        case .decimal, .binary, .json, .transformable: false
        }
    }

    // MARK: Types

    /// The type of a term; nil for a literal, which takes that of what it meets.
    private func type(of term: PredicateTerm) throws -> AttributeType? {
        switch term {
        case .literal: nil
        case .path(let path, let place): try found(path, at: place).type
        case .calculated(let left, let operation, let right, let place):
            try type(of: operation, left, right, at: place)
        }
    }

    private func type(
        of operation: PredicateTerm.Operation, _ left: PredicateTerm, _ right: PredicateTerm, at place: PredicatePlace
    ) throws -> AttributeType {
        let types = try [left, right].map { try self.type(of: $0) ?? $0.literalType(beside: .integer) }
        for found in types where found != .integer && found != .double {
            throw place.error(
                "'\(operation.rawValue)' calculates with integers and doubles, not with \(found.rawValue)",
                entity: root.name)
        }
        let result: AttributeType = types.contains(.double) ? .double : .integer
        guard operation != .remainder || result == .integer else {
            throw place.error("MOD is of integers", entity: root.name)
        }
        return result
    }

    /// What a path leads to, and the type of that.
    private func found(
        _ path: PredicatePath, at place: PredicatePlace
    ) throws -> (term: ResolvedCalculation.Term, type: AttributeType) {
        if let quantifier = path.quantifier {
            throw place.error("\(quantifier.rawValue) has no place in a calculation", entity: root.name)
        }
        let route = try PredicateRoute(path, from: root, in: model, at: place)
        if let hop = route.hops.first(where: \.isToMany) {
            throw place.error("'\(hop.name)' leads to many rows, of which none is calculated with", entity: root.name)
        }
        switch route.end {
        case .attribute(let slot):
            let owner = route.hops.last.map { model.entities[$0.destination] } ?? root
            let attribute = model[owner.table].attributes[slot]
            return (.attribute(route.hops, attribute, slot: slot), attribute.type)
        case .count(let last): return (.count(route.hops, last), .integer)
        case .relationship(let last):
            throw place.error(
                "'\(last.name)' is a relationship: name an attribute of what it leads to", entity: root.name)
        }
    }

    // MARK: Terms

    /// A term as one of a type: its own, or floating-point where it is whole.
    private func resolved(_ term: PredicateTerm, as type: AttributeType) throws -> ResolvedCalculation.Term {
        switch term {
        case .literal(let literal, let place):
            guard literal != .null else { throw place.error("nil is not calculated with", entity: root.name) }
            guard let constant = literal.constant(as: type) else {
                throw place.error("\(literal.kind) is no \(type.rawValue)", entity: root.name)
            }
            return .constant(constant)
        case .path(let path, let place):
            let (term, own) = try found(path, at: place)
            return own == type ? term : .asDouble(term)
        case .calculated(let left, let operation, let right, let place):
            let own = try self.type(of: operation, left, right, at: place)
            let (left, right) = (try resolved(left, as: own), try resolved(right, as: own))
            let term: ResolvedCalculation.Term =
                own == .integer ? .integer(left, operation, right) : .double(left, operation, right)
            return own == type ? term : .asDouble(term)
        }
    }

    // MARK: Related rows

    func resolved(_ related: PredicateRelated) throws -> ResolvedPredicate {
        let quantifier = related.path.quantifier ?? .any
        let route = try PredicateRoute(related.path, from: root, in: model, at: related.place)
        guard case .relationship(let last) = route.end else {
            throw related.place.error(
                "\(quantifier.rawValue) (…) needs a relationship, which '\(route.name)' is not", entity: root.name)
        }
        let inner = PredicateResolver(model: model, root: model.entities[last.destination])
        return .related(quantifier, route.hops + [last], try inner.resolved(related.condition))
    }
}

extension PredicateTerm {
    /// The type of a literal where one of a type is wanted: a number with a fraction is no whole one.
    fileprivate func literalType(beside type: AttributeType) -> AttributeType {
        guard type == .integer, case .literal(.number(let text), _) = self, Int64(text) == nil else { return type }
        return .double
    }
}
