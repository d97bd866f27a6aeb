/// Finds the names of a condition in the model and checks that operators and values suit the types.
struct PredicateResolver {
    let model: CompiledModel
    let root: CompiledEntity

    /// - Throws: ``SyncError`` `invalidPredicate` with line and column.
    func resolved(_ node: PredicateNode) throws -> ResolvedPredicate {
        switch node {
        case .constant(let value): .constant(value)
        case .invalid(let error, _): throw error
        case .not(let inner): .not(try resolved(inner))
        case .and(let nodes): .and(try nodes.map(resolved))
        case .or(let nodes): alternatives(try nodes.map(resolved), of: nodes)
        case .calculation(let calculation): .calculation(try resolved(calculation))
        case .related(let related): try resolved(related)
        case .comparison(let comparison):
            if let parts = try parts(of: comparison) {
                try resolved(parts)
            } else {
                .comparison(try resolved(comparison))
            }
        }
    }

    private func resolved(_ comparison: PredicateComparison) throws -> ResolvedComparison {
        let path = comparison.path
        let route = try PredicateRoute(path, from: root, in: model, at: comparison.pathPlace)
        let place = try path.quantifier.map { try many($0, route, comparison) } ?? single(route, comparison)
        let test = try PredicateTestBuilder(comparison: comparison, type: place.subject.type, root: root).test()
        return ResolvedComparison(
            many: place.many, hops: place.hops, subject: place.subject, test: test,
            ignoresCase: comparison.ignoresCase)
    }

    private typealias Place = (
        many: ResolvedComparison.Many?, hops: [CompiledRelationship], subject: ResolvedComparison.Subject
    )

    private func single(_ route: PredicateRoute, _ comparison: PredicateComparison) throws -> Place {
        if let hop = route.hops.first(where: \.isToMany) {
            throw comparison.pathPlace.error(
                "'\(hop.name)' leads to many rows: write ANY, ALL or NONE before '\(route.name)'", entity: root.name)
        }
        guard case .relationship(let last) = route.end, last.isToMany else {
            return (nil, route.hops, try subject(route.hops, route.end, comparison))
        }
        guard comparison.literal == .null, [.equal, .notEqual].contains(comparison.operator) else {
            throw comparison.pathPlace.error(
                "'\(last.name)' leads to many rows: write ANY, ALL or NONE before '\(route.name)', or compare it "
                    + "with nil, or its @count", entity: root.name)
        }
        return (nil, route.hops, .targets(last))
    }

    private func many(
        _ quantifier: PredicatePath.Quantifier, _ route: PredicateRoute, _ comparison: PredicateComparison
    ) throws -> Place {
        var (hops, end) = (route.hops, route.end)
        if case .relationship(let last) = end, last.isToMany {
            guard !comparison.literal.hasNull else {
                throw comparison.valuePlace.error(
                    "rows of '\(last.name)' are never nil; without \(quantifier.rawValue), '\(route.name) == nil' is "
                        + "true where there are none", entity: root.name)
            }
            hops.append(last)
            end = .attribute(slot: try keySlot(of: last, comparison))
        }
        guard let last = hops.lastIndex(where: \.isToMany) else {
            throw comparison.pathPlace.error(
                "\(quantifier.rawValue) needs a to-many relationship, and '\(route.name)' goes through none",
                entity: root.name)
        }
        return (
            ResolvedComparison.Many(quantifier: quantifier, hops: Array(hops[...last])), Array(hops[(last + 1)...]),
            try subject(hops, end, comparison)
        )
    }

    private func subject(
        _ hops: [CompiledRelationship], _ end: PredicateRoute.End, _ comparison: PredicateComparison
    ) throws -> ResolvedComparison.Subject {
        switch end {
        case .attribute(let slot):
            let entity = hops.last.map { model.entities[$0.destination] } ?? root
            return .attribute(model[entity.table].attributes[slot], slot: slot)
        case .count(let last): return .count(last)
        case .relationship(let last):
            if comparison.literal == .null { return .target(last, key: nil) }
            let slot = try keySlot(of: last, comparison)
            let tree = model[model.entities[last.destination].table]
            return .target(last, key: ResolvedComparison.Key(attribute: tree.attributes[slot], slot: slot))
        }
    }

    /// A relationship compared with a value stands for the key of its target.
    private func keySlot(of hop: CompiledRelationship, _ comparison: PredicateComparison) throws -> Int {
        let destination = model.entities[hop.destination]
        if let slot = destination.keySlot { return slot }
        throw comparison.pathPlace.error(
            destination.isKeyed
                ? "rows of \(destination.name) have a key of several parts: compare \(hop.name)."
                    + model.keyNames(of: destination).joined(separator: ", \(hop.name).")
                : "rows of \(destination.name) have no key to compare '\(hop.name)' with", entity: root.name)
    }
}

extension RecordPredicate {
    /// The condition on the rows of an entity, with its names found and its values brought to their types.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate`, naming what there is where a name is unknown.
    package func resolved(on entity: CompiledEntity, in model: CompiledModel) throws -> ResolvedPredicate {
        try PredicateResolver(model: model, root: entity).resolved(try checked())
    }
}

extension PredicateLiteral {
    fileprivate var hasNull: Bool {
        switch self {
        case .null: true
        case .list(let values): values.contains(.null)
        default: false
        }
    }
}
