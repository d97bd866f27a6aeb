// Comparisons with the primary keys of rows.
extension ResolvedPredicate {
    /// A function that returns the key to compare with in place of a key of an entity; nil for the key itself.
    package typealias KeyReplacement = (_ key: PredicateConstant, CompiledEntity) throws -> PredicateConstant?

    /// Returns the condition with other keys where a primary key is compared for equality.
    ///
    /// - Parameter entity: The entity of the rows that the condition is on.
    package func replacingKeys(
        on entity: CompiledEntity, in model: CompiledModel, _ replacement: KeyReplacement
    ) rethrows -> ResolvedPredicate {
        switch self {
        case .constant, .calculation: self
        case .and(let parts): .and(try parts.map { try $0.replacingKeys(on: entity, in: model, replacement) })
        case .or(let parts): .or(try parts.map { try $0.replacingKeys(on: entity, in: model, replacement) })
        case .not(let inner): .not(try inner.replacingKeys(on: entity, in: model, replacement))
        case .comparison(let comparison):
            .comparison(try comparison.replacingKeys(on: entity, in: model, replacement))
        case .related(let quantifier, let hops, let inner):
            .related(
                quantifier, hops,
                try inner.replacingKeys(on: model.destination(of: hops) ?? entity, in: model, replacement))
        }
    }
}

extension ResolvedComparison {
    fileprivate func replacingKeys(
        on entity: CompiledEntity, in model: CompiledModel, _ replacement: ResolvedPredicate.KeyReplacement
    ) rethrows -> ResolvedComparison {
        guard !ignoresCase, let owner = keyOwner(on: entity, in: model) else { return self }
        func replaced(_ key: PredicateConstant) throws -> PredicateConstant { try replacement(key, owner) ?? key }
        let test: Test
        switch self.test {
        case .equal(let key): test = .equal(try replaced(key))
        case .notEqual(let key): test = .notEqual(try replaced(key))
        case .isIn(let keys, let orNull): test = .isIn(try keys.map(replaced), orNull: orNull)
        default: return self
        }
        return ResolvedComparison(many: many, hops: hops, subject: subject, test: test, ignoresCase: ignoresCase)
    }

    /// Returns the entity whose primary key is compared; nil if another value is compared.
    private func keyOwner(on entity: CompiledEntity, in model: CompiledModel) -> CompiledEntity? {
        switch subject {
        case .attribute(_, let slot):
            let owner = model.destination(of: (many?.hops ?? []) + hops) ?? entity
            return owner.keySlot == slot ? owner : nil
        case .target(let relationship, _?): return model.entities[relationship.destination]
        case .target(_, nil), .member, .targets, .count: return nil
        }
    }
}

extension CompiledModel {
    /// Returns the entity at the end of consecutive relationships; nil if there are none.
    fileprivate func destination(of hops: [CompiledRelationship]) -> CompiledEntity? {
        hops.last.map { entities[$0.destination] }
    }
}
