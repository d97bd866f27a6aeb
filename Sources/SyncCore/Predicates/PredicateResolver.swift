/// A resolver of the names of a condition. It also checks operators and values against the types of the attributes.
struct PredicateResolver {
    let model: CompiledModel
    let root: CompiledEntity

    /// Resolves a syntax tree.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` with line and column, if the condition was parsed from text.
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
        let route = try ResolvedPredicatePath(path, from: root, in: model, at: comparison.pathLocation)
        let location = try path.quantifier.map { try many($0, route, comparison) } ?? single(route, comparison)
        let test = try PredicateTestBuilder(comparison: comparison, type: location.subject.type, root: root).test()
        return ResolvedComparison(
            many: location.many, hops: location.hops, subject: location.subject, test: test,
            ignoresCase: comparison.ignoresCase)
    }

    private typealias Place = (
        many: ResolvedComparison.Many?, hops: [CompiledRelationship], subject: ResolvedComparison.Subject
    )

    private func single(_ route: ResolvedPredicatePath, _ comparison: PredicateComparison) throws -> Place {
        if let hop = route.hops.first(where: \.isToMany) {
            throw comparison.pathLocation.error(
                "'\(hop.name)' is a to-many relationship; write ANY, ALL or NONE before '\(route.name)'",
                entity: root.name)
        }
        guard case .relationship(let last) = route.end, last.isToMany else {
            return (nil, route.hops, try subject(route.hops, route.end, comparison))
        }
        guard comparison.literal == .null, [.equal, .notEqual].contains(comparison.operator) else {
            throw comparison.pathLocation.error(
                "'\(last.name)' is a to-many relationship; write ANY, ALL or NONE before '\(route.name)', "
                    + "compare it with nil, or compare its @count", entity: root.name)
        }
        return (nil, route.hops, .targets(last))
    }

    private func many(
        _ quantifier: PredicatePath.Quantifier, _ route: ResolvedPredicatePath, _ comparison: PredicateComparison
    ) throws -> Place {
        var (hops, end) = (route.hops, route.end)
        if case .relationship(let last) = end, last.isToMany {
            guard !comparison.literal.hasNull else {
                throw comparison.valueLocation.error(
                    "rows of '\(last.name)' are never nil; remove \(quantifier.rawValue): '\(route.name) == nil' is "
                        + "true if there are none", entity: root.name)
            }
            hops.append(last)
            end = .attribute(slot: try keySlot(of: last, comparison))
        }
        guard let last = hops.lastIndex(where: \.isToMany) else {
            throw comparison.pathLocation.error(
                "\(quantifier.rawValue) requires a to-many relationship, and '\(route.name)' has none",
                entity: root.name)
        }
        return (
            ResolvedComparison.Many(quantifier: quantifier, hops: Array(hops[...last])), Array(hops[(last + 1)...]),
            try subject(hops, end, comparison)
        )
    }

    private func subject(
        _ hops: [CompiledRelationship], _ end: ResolvedPredicatePath.End, _ comparison: PredicateComparison
    ) throws -> ResolvedComparison.Subject {
        let entity = hops.last.map { model.entities[$0.destination] } ?? root
        let attributes = model[entity.table].attributes
        switch end {
        case .attribute(let slot): return .attribute(attributes[slot], slot: slot)
        case .member(let slot, let keys):
            return .member(attributes[slot], slot: slot, keys: keys, type: try memberType(comparison))
        case .count(let last): return .count(last)
        case .relationship(let last):
            if comparison.literal == .null { return .target(last, key: nil) }
            let slot = try keySlot(of: last, comparison)
            let hierarchy = model[model.entities[last.destination].table]
            return .target(last, key: ResolvedComparison.Key(attribute: hierarchy.attributes[slot], slot: slot))
        }
    }

    /// Returns the type of a member of JSON: that of the values that it is compared with.
    private func memberType(_ comparison: PredicateComparison) throws -> AttributeType {
        let types = Set(comparison.literal.elements.compactMap(\.memberType))
        guard types.count <= 1 else {
            throw comparison.valueLocation.error(
                "the values that '\(comparison.path.name)' is compared with must all be strings, numbers or Booleans",
                entity: root.name)
        }
        return types.first ?? .string
    }

    /// Returns the slot of the destination's primary key, which a relationship is compared by.
    private func keySlot(of hop: CompiledRelationship, _ comparison: PredicateComparison) throws -> Int {
        let destination = model.entities[hop.destination]
        if let slot = destination.keySlot { return slot }
        throw comparison.pathLocation.error(
            destination.isKeyed
                ? "rows of \(destination.name) have a composite key; compare \(hop.name)."
                    + model.keyNames(of: destination).joined(separator: ", \(hop.name).")
                : "rows of \(destination.name) have no key, so '\(hop.name)' can only be compared with nil",
            entity: root.name)
    }
}

extension RowPredicate {
    /// Resolves the condition for an entity: its names become indexes, and its values get the types of the attributes.
    ///
    /// - Parameter capabilities: The values that the store can keep. The result has no others, as
    ///   ``ResolvedPredicate/keeping(_:)`` describes.
    /// - Throws: ``SyncError`` `invalidPredicate`. For an unknown name, the message lists known names.
    package func resolved(
        on entity: CompiledEntity, in model: CompiledModel, keeping capabilities: StoreCapabilities = .unlimited
    ) throws -> ResolvedPredicate {
        try PredicateResolver(model: model, root: entity).resolved(try checked()).keeping(capabilities)
    }
}

extension PredicateLiteral {
    fileprivate var hasNull: Bool { elements.contains(.null) }

    /// The elements of a list, or the literal itself.
    fileprivate var elements: [PredicateLiteral] {
        if case .list(let values) = self { values } else { [self] }
    }

    /// The type of a member of JSON that equals the literal; nil for null and lists.
    fileprivate var memberType: AttributeType? {
        switch self {
        case .text: .string
        case .number: .decimal
        case .boolean: .boolean
        case .null, .list: nil
        }
    }
}

/// A builder of the test of a comparison. It checks the operator and the value against the type.
struct PredicateTestBuilder {
    let comparison: PredicateComparison
    let type: AttributeType
    let root: CompiledEntity

    /// Returns the test of the comparison.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` with the location of the path or the value.
    func test() throws -> ResolvedComparison.Test {
        try checkOperator()
        switch (comparison.operator, comparison.literal) {
        case (.equal, .null): return .isNull
        case (.notEqual, .null): return .isNotNull
        case (_, .null): return .never
        case (.in, .list(let literals)):
            return .isIn(try constants(literals.filter { $0 != .null }), orNull: literals.contains(.null))
        case (_, .list(let bounds)):
            let values = try bounds.filter { $0 != .null }.map(ordered)
            return values.count == 2 ? .between(values[0], values[1]) : .never
        case (.equal, let literal): return .equal(try constant(literal))
        case (.notEqual, let literal): return .notEqual(try constant(literal))
        case (.less, let literal): return .less(try ordered(literal))
        case (.lessOrEqual, let literal): return .lessOrEqual(try ordered(literal))
        case (.greater, let literal): return .greater(try ordered(literal))
        case (.greaterOrEqual, let literal): return .greaterOrEqual(try ordered(literal))
        case (.matches, .text(let pattern)): return .matches(try expression(pattern))
        case (let op, .text(let text)): return textual(op, comparison.ignoresCase ? CaseFolding.fold(text) : text)
        case (_, let literal): throw mismatch(literal)
        }
    }

    private func expression(_ pattern: String) throws -> RegularExpression {
        if let expression = RegularExpression(pattern, ignoringCase: comparison.ignoresCase) { return expression }
        throw comparison.valueLocation.error("'\(pattern)' is not a regular expression")
    }

    private func textual(_ op: PredicateOperator, _ text: String) -> ResolvedComparison.Test {
        switch op {
        case .contains: .contains(text)
        case .beginsWith: .beginsWith(text)
        case .endsWith: .endsWith(text)
        default: .like(text)
        }
    }

    /// Checks that the operator fits the type.
    private func checkOperator() throws {
        let (op, name) = (comparison.operator, comparison.path.name)
        let isText = type == .string || type == .url
        if comparison.literal != .null, !isText, op.isTextual || comparison.ignoresCase {
            let what = op.isTextual ? op.rawValue : "[c]"
            throw comparison.pathLocation.error(
                "\(what) requires a string, but '\(name)' is of type \(type.rawValue)", entity: root.name)
        }
        if op.isOrdering, type == .binary || type == .json || type == .transformable {
            throw comparison.pathLocation.error(
                "'\(name)' is of type \(type.rawValue), which is not ordered", entity: root.name)
        }
        if type == .transformable, comparison.literal != .null {
            throw comparison.pathLocation.error(
                "'\(name)' is transformable and can only be compared with nil", entity: root.name)
        }
    }

    // MARK: Values

    private func constant(_ literal: PredicateLiteral) throws -> PredicateConstant {
        guard let constant = literal.constant(as: type) else { throw mismatch(literal) }
        return comparison.ignoresCase ? constant.folded : constant
    }

    /// Converts literals to constants, without duplicates.
    private func constants(_ literals: [PredicateLiteral]) throws -> [PredicateConstant] {
        var seen: Set<PredicateConstant> = []
        return try literals.map(constant).filter { seen.insert($0).inserted }
    }

    /// Converts the bound of an order comparison. The bound of an integer may be a fraction or exceed 64 bits, so it is
    /// an exact number. Strings are ordered by their bytes, so a number cannot be their bound.
    private func ordered(_ literal: PredicateLiteral) throws -> PredicateConstant {
        switch (type, literal) {
        case (.string, .number), (.string, .boolean):
            throw comparison.valueLocation.error(
                "'\(comparison.path.name)' is of type string and cannot be compared with \(literal.kind); "
                    + "quote the value", entity: root.name)
        default: break
        }
        guard type == .integer else { return try constant(literal) }
        guard let number = literal.number else { throw mismatch(literal) }
        return .exact(number)
    }

    private func mismatch(_ literal: PredicateLiteral) -> SyncError {
        comparison.valueLocation.error(
            "'\(comparison.path.name)' is of type \(type.rawValue) and cannot be compared with \(literal.kind)",
            entity: root.name)
    }
}

// MARK: - Alternatives

extension PredicateResolver {
    /// The smallest number of equality comparisons of one path that become an `IN`.
    private static let minimumCountForIN = 100

    /// The path and option that comparisons must share to become one `IN`.
    private struct Operand: Hashable {
        let path: PredicatePath
        let type: AttributeType
        let ignoresCase: Bool
    }

    /// Replaces `id == 1 OR id == 2 OR …` with `id IN {1, 2, …}`, from ``minimumCountForIN`` comparisons on. SQLite
    /// compares each constant of a statement with all earlier ones, so many separate comparisons take quadratic time.
    func alternatives(_ parts: [ResolvedPredicate], of nodes: [PredicateNode]) -> ResolvedPredicate {
        guard parts.count >= Self.minimumCountForIN else { return .or(parts) }
        let equalities = Dictionary(grouping: parts.indices.filter { operand(of: nodes[$0], parts[$0]) != nil }) {
            operand(of: nodes[$0], parts[$0])
        }
        var merged: [ResolvedPredicate] = []
        var listed: Set<Int> = []
        let lists = equalities.values.filter { $0.count >= Self.minimumCountForIN }
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
        return Operand(path: comparison.path, type: resolved.subject.type, ignoresCase: comparison.ignoresCase)
    }

    /// Returns one `IN` in place of several equality comparisons; nil if they are not comparisons.
    ///
    /// - Parameter parts: Equality comparisons with the same path and option.
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

// MARK: - Keys

extension PredicateResolver {
    /// Splits a comparison of a to-one relationship with composite keys into comparisons of the parts of the keys; nil
    /// for any other comparison.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` for a value that is not a key of the destination, and for operators
    ///   other than `==`, `!=` and `IN`.
    func parts(of comparison: PredicateComparison) throws -> PredicateNode? {
        let path = comparison.path
        guard path.quantifier == nil, comparison.literal != .null,
            case .relationship(let last) = try ResolvedPredicatePath(
                path, from: root, in: model, at: comparison.pathLocation
            ).end,
            !last.isToMany, let key = model.entities[last.destination].compositeKey
        else { return nil }
        let destination = model.entities[last.destination]
        func node(_ literal: PredicateLiteral) throws -> PredicateNode {
            if literal == .null { return .comparison(PredicateComparison(isNil: path)) }
            guard case .text(let text) = literal, let json = try? JSONValue(parsing: text),
                let found = model.rowKey(json, of: destination),
                case .composite(let values) = found.recordKey(model.keyType(of: destination.id))
            else {
                throw comparison.valueLocation.error(
                    "\(literal.kind) is not a valid key of \(destination.name), "
                        + "\(model.keyDescription(of: destination))",
                    entity: root.name)
            }
            let names = model.keyNames(of: destination)
            let parts = try zip(zip(key.parts, names), values).map { part, value in
                let path = PredicatePath(components: path.components + [part.1])
                return PredicateNode.comparison(
                    try PredicateComparison(
                        path, .equal, PredicateValue(value.literal), names: Set(path.components),
                        pathLocation: comparison.pathLocation, valueLocation: comparison.valueLocation))
            }
            return .all(of: parts)
        }
        switch (comparison.operator, comparison.literal) {
        case (.equal, let literal): return try node(literal)
        case (.notEqual, let literal): return .not(try node(literal))
        case (.in, .list(let literals)):
            return literals.isEmpty ? .constant(false) : .any(of: try literals.map(node))
        default:
            throw comparison.pathLocation.error(
                "\(path.name) has a composite key, which can only be compared with ==, != or IN",
                entity: root.name)
        }
    }
}

extension PrimaryKeyValue {
    /// The key as a literal of a condition.
    fileprivate var literal: PredicateLiteral {
        switch self {
        case .integer(let value): .number(String(value))
        case .double(let value): .number("\(value)")
        case .text(let text): .text(text)
        case .composite: .text(description)
        }
    }
}
