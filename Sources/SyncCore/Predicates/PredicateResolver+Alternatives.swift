extension PredicateResolver {
    /// Fewer values of one path than this are compared one by one.
    private static let listedAlternatives = 100

    /// What comparisons for equality can have in common, so that one list says the same.
    private struct Operand: Hashable {
        let path: PredicatePath
        let ignoresCase: Bool
    }

    /// `id == 1 OR id == 2 OR …` as `id IN {1, 2, …}`: SQLite compares each constant of a statement with all before it.
    func alternatives(_ parts: [ResolvedPredicate], of nodes: [PredicateNode]) -> ResolvedPredicate {
        guard parts.count >= Self.listedAlternatives else { return .or(parts) }
        let equalities = Dictionary(grouping: parts.indices.filter { operand(of: nodes[$0], parts[$0]) != nil }) {
            operand(of: nodes[$0], parts[$0])
        }
        var merged: [ResolvedPredicate] = []
        var listed: Set<Int> = []
        let lists = equalities.values.filter { $0.count >= Self.listedAlternatives }
        for positions in lists.sorted(by: { $0[0] < $1[0] }) {
            guard let list = list(positions.map { parts[$0] }) else { continue }
            merged.append(list)
            listed.formUnion(positions)
        }
        merged += parts.indices.filter { !listed.contains($0) }.map { parts[$0] }
        return merged.count == 1 ? merged[0] : .or(merged)
    }

    private func operand(of node: PredicateNode, _ part: ResolvedPredicate) -> Operand? {
        guard case .comparison(let comparison) = node, case .comparison(let resolved) = part,
            case .equal = resolved.test, [nil, .any].contains(comparison.path.quantifier)
        else { return nil }
        return Operand(path: comparison.path, ignoresCase: comparison.ignoresCase)
    }

    /// - Parameter parts: Comparisons of one operand for equality.
    private func list(_ parts: [ResolvedPredicate]) -> ResolvedPredicate? {
        guard case .comparison(let first) = parts.first else { return nil }
        var seen: Set<PredicateConstant> = []
        var constants: [PredicateConstant] = []
        for case .comparison(let part) in parts {
            if case .equal(let constant) = part.test, seen.insert(constant).inserted { constants.append(constant) }
        }
        return .comparison(
            ResolvedComparison(
                many: first.many, hops: first.hops, subject: first.subject,
                test: .isIn(constants, orNull: false), ignoresCase: first.ignoresCase))
    }
}
