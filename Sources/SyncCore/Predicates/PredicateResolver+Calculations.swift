extension PredicateResolver {
    /// - Throws: ``SyncError`` `invalidPredicate` for what cannot be calculated or compared.
    func resolved(_ calculation: PredicateCalculation) throws -> ResolvedCalculation {
        var (left, leftType) = try resolved(calculation.left)
        var (right, rightType) = try resolved(calculation.right)
        // A literal is of the other's type.
        if leftType == nil, let type = rightType { (left, leftType) = try constant(calculation.left, as: type) }
        if rightType == nil, let type = leftType { (right, rightType) = try constant(calculation.right, as: type) }
        guard let leftType, let rightType else {
            throw calculation.place.error("both sides are constants", entity: root.name)
        }
        let test = try self.test(calculation)
        if leftType == rightType {
            guard Self.areComparable(leftType) else {
                throw calculation.place.error(
                    "values of the type \(leftType.rawValue) are not compared with each other", entity: root.name)
            }
            return ResolvedCalculation(left: left, test: test, right: right, type: leftType)
        }
        guard Set([leftType, rightType]) == [.integer, .double] else {
            throw calculation.place.error(
                "\(leftType.rawValue) and \(rightType.rawValue) do not compare", entity: root.name)
        }
        return ResolvedCalculation(
            left: leftType == .double ? left : .asDouble(left), test: test,
            right: rightType == .double ? right : .asDouble(right), type: .double)
    }

    /// Those that are kept as they compare.
    private static func areComparable(_ type: AttributeType) -> Bool {
        switch type {
        case .integer, .double, .boolean, .string, .date, .uuid, .url: true
        case .decimal, .binary, .json, .transformable: false
        }
    }

    private func test(_ calculation: PredicateCalculation) throws -> ResolvedCalculation.Test {
        switch calculation.operator {
        case .equal: .equal
        case .notEqual: .notEqual
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        default:
            throw calculation.place.error(
                "\(calculation.operator.rawValue) compares with a constant only", entity: root.name)
        }
    }

    private typealias Typed = (term: ResolvedCalculation.Term, type: AttributeType?)

    /// A term and its type; nil for a literal, which takes that of what it meets.
    private func resolved(_ term: PredicateTerm) throws -> Typed {
        switch term {
        case .literal: return (.constant(.boolean(false)), nil)
        case .path(let path, let place): return try resolved(path, at: place)
        case .calculated(let left, let operation, let right, let place):
            return try resolved(left, operation, right, at: place)
        }
    }

    private func resolved(_ path: PredicatePath, at place: PredicatePlace) throws -> Typed {
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

    private func resolved(
        _ left: PredicateTerm, _ operation: PredicateTerm.Operation, _ right: PredicateTerm, at place: PredicatePlace
    ) throws -> Typed {
        var (first, firstType) = try resolved(left)
        var (second, secondType) = try resolved(right)
        let isWhole =
            [left, right].allSatisfy(\.isWhole) && [firstType, secondType].allSatisfy { $0 ?? .integer == .integer }
        let type: AttributeType = isWhole ? .integer : .double
        if firstType == nil { (first, firstType) = try constant(left, as: type) }
        if secondType == nil { (second, secondType) = try constant(right, as: type) }
        for found in [firstType, secondType] where found != .integer && found != .double {
            throw place.error(
                "'\(operation.rawValue)' calculates with integers and doubles, not with \(found?.rawValue ?? "that")",
                entity: root.name)
        }
        if isWhole { return (.integer(first, operation, second), .integer) }
        guard operation != .remainder else {
            throw place.error("MOD is of integers", entity: root.name)
        }
        return (
            .double(
                firstType == .double ? first : .asDouble(first), operation,
                secondType == .double ? second : .asDouble(second)), .double
        )
    }

    private func constant(_ term: PredicateTerm, as type: AttributeType) throws -> Typed {
        guard case .literal(let literal, let place) = term else { return (.constant(.boolean(false)), type) }
        guard literal != .null else { throw place.error("nil is not calculated with", entity: root.name) }
        let wanted: AttributeType = type == .integer && !term.isWhole ? .double : type
        guard let constant = literal.constant(as: wanted) else {
            throw place.error("\(literal.kind) is no \(type.rawValue)", entity: root.name)
        }
        return (.constant(constant), wanted)
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
    /// Whether it is not a number with a fraction.
    fileprivate var isWhole: Bool {
        guard case .literal(.number(let text), _) = self else { return true }
        return Int64(text) != nil
    }
}
