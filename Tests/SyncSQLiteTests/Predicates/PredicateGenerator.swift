import Foundation

@testable import SyncCore

/// A SplitMix64 generator, which gives the same numbers for the same seed on every platform.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &self)]
    }

    mutating func chance(_ parts: Int, of all: Int) -> Bool { Int.random(in: 0..<all, using: &self) < parts }
}

/// A generator of random conditions, most of which fit the model.
struct PredicateGenerator {
    private let model: CompiledModel
    var random: SeededGenerator

    init(_ model: CompiledModel, seed: UInt64) {
        self.model = model
        random = SeededGenerator(seed: seed)
    }

    mutating func predicate(on entity: CompiledEntity, depth: Int = 3) -> RowPredicate {
        guard depth > 0, random.chance(1, of: 2) else { return comparison(on: entity) }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return !predicate(on: entity, depth: depth - 1)
        case 1: return predicate(on: entity, depth: depth - 1) && predicate(on: entity, depth: depth - 1)
        default: return predicate(on: entity, depth: depth - 1) || predicate(on: entity, depth: depth - 1)
        }
    }

    private mutating func comparison(on root: CompiledEntity) -> RowPredicate {
        var names: [String] = []
        var entity = root
        var isMany = false
        while random.chance(1, of: 2), names.count < 3 {
            let hop = random.pick(entity.relationships)
            names.append(hop.name)
            isMany = isMany || hop.isToMany
            entity = model.entities[hop.destination]
        }
        let quantifiers: [PredicatePath.Quantifier?] = isMany ? [.any, .all, PredicatePath.Quantifier.none] : [nil]
        let quantifier = random.pick(quantifiers)
        guard random.chance(3, of: 4) else {
            return relationship(random.pick(entity.relationships), after: names, quantifier)
        }
        let attribute = random.pick(entity.slots.map { model[entity.table].attributes[$0] })
        guard attribute.type == .json, random.chance(3, of: 4) else {
            return test(PredicatePath(components: names + [attribute.name], quantifier: quantifier), attribute.type)
        }
        let keys = (0...Int.random(in: 0...1, using: &random)).map { _ in random.pick(PredicateValues.keys) }
        let path = PredicatePath(components: names + [attribute.name] + keys, quantifier: quantifier)
        return test(path, random.pick([.decimal, .boolean, .string]))
    }

    /// Returns a condition on a relationship: its count, whether it has rows, or the key of its rows.
    private mutating func relationship(
        _ hop: CompiledRelationship, after names: [String], _ quantifier: PredicatePath.Quantifier?
    ) -> RowPredicate {
        let components = names + [hop.name]
        if hop.isToMany, random.chance(1, of: 2) {
            return test(PredicatePath(components: components, isCount: true, quantifier: quantifier), .integer)
        }
        let destination = model.entities[hop.destination]
        if hop.isToMany, quantifier == nil, let slot = destination.keySlot, random.chance(1, of: 2) {
            let type = model[destination.table].attributes[slot].type
            return test(PredicatePath(components: components, quantifier: .any), type)
        }
        let path = PredicatePath(components: components, quantifier: quantifier)
        guard !hop.isToMany, let slot = destination.keySlot, random.chance(2, of: 3) else {
            return .compare(path, random.pick([.equal, .notEqual]), nil)
        }
        return test(path, model[destination.table].attributes[slot].type)
    }

    private mutating func test(_ path: PredicatePath, _ type: AttributeType) -> RowPredicate {
        let isText = type == .string || type == .url
        let ignoresCase = isText && random.chance(1, of: 3)
        var operators: [PredicateOperator] = [.equal, .notEqual, .in]
        if ![.binary, .json, .transformable].contains(type) {
            operators += [.less, .lessOrEqual, .greater, .greaterOrEqual, .between]
        }
        if isText { operators += [.contains, .beginsWith, .endsWith, .like, .matches] }
        switch random.pick(operators) {
        case .in:
            let values = (0..<Int.random(in: 0...3, using: &random)).map { _ in literal(type, ignoresCase) }
            return .compare(path, .in, PredicateValue.list(values), ignoringCase: ignoresCase)
        case .between:
            let values = [literal(type, ignoresCase), literal(type, ignoresCase)]
            return .compare(path, .between, PredicateValue.list(values), ignoringCase: ignoresCase)
        case .matches:
            return .compare(path, .matches, random.pick(PredicateValues.expressions), ignoringCase: ignoresCase)
        case .like: return .compare(path, .like, random.pick(PredicateValues.wildcards), ignoringCase: ignoresCase)
        case let op where op.isTextual:
            return .compare(path, op, random.pick(PredicateValues.parts), ignoringCase: ignoresCase)
        case let op: return .compare(path, op, literal(type, ignoresCase), ignoringCase: ignoresCase)
        }
    }

    private mutating func literal(_ type: AttributeType, _ ignoresCase: Bool) -> PredicateValue {
        if type == .transformable || random.chance(1, of: ignoresCase ? 20 : 6) { return .null }
        if [.integer, .double, .decimal].contains(type), random.chance(1, of: 3) {
            return PredicateValue(.number(random.pick(PredicateValues.numbers)))
        }
        return random.pick(PredicateValues.stored[type] ?? [.null]).predicateValue
    }
}

extension RowPredicate {
    /// Returns a comparison of a path with a value. If the operator does not accept the value, each call that uses the
    /// condition throws an error.
    fileprivate static func compare(
        _ path: PredicatePath, _ op: PredicateOperator, _ value: (any PredicateArgument)?, ignoringCase: Bool = false
    ) -> RowPredicate {
        do {
            let value = value?.predicateValue ?? .null
            return RowPredicate(.comparison(try PredicateComparison(path, op, value, ignoresCase: ignoringCase)))
        } catch {
            let error = error as? SyncError ?? SyncError(.invalidPredicate, "\(error)")
            return RowPredicate(.invalid(error, text: "\(path.name) \(op.rawValue)"))
        }
    }
}

/// Values of rows and of conditions.
enum PredicateValues {
    static let stored: [AttributeType: [StoredValue]] = [
        .integer: [-3, 0, 1, 2, 17, .max, .min].map { .integer($0) },
        .double: [-0.5, 0, 0.1, 1.5, 17, 1e300].map { .double($0) },
        .decimal: ["10.5", "10", "9.999", "-2", "0", "12345678901234567890.5", "0.1"]
            .compactMap { Decimal(string: $0).map(StoredValue.decimal) },
        .boolean: [.boolean(true), .boolean(false)],
        .string: [
            "", "Ann", "ann", "Straße", "STRASSE", "bob", "a*b", "é", "e\u{301}", "x\0y", "Ⅷ", "İ", "ΣΊΣΥΦΟΣ", "1",
            "a\nb",
        ].map { .string($0) },
        .date: [0, -1, 1_709_231_399.999, 1_709_231_400, -62_135_596_800].map {
            .date(Date(timeIntervalSince1970: $0))
        },
        .uuid: ["0B6AE2F7-5E0B-4A55-8B46-3F8D3B7D0A11", "1B6AE2F7-5E0B-4A55-8B46-3F8D3B7D0A11"]
            .compactMap { UUID(uuidString: $0).map(StoredValue.uuid) },
        .url: ["http://a.b/C", "http://a.b/c", "x:y"].map { .url($0) },
        .binary: [.binary(Data()), .binary(Data([1, 2, 3])), .binary(Data([0, 255]))],
        .json: [
            .json(.number("1")), .json(.string("x")), .json(["b": 1, "a": [true]]), .json([]),
            .json(["a": "Straße", "b": .number("10.50"), "x.y": true]), .json(["a": ["b": "ann", "x.y": nil]]),
            .json(["a": nil, "b": "1", "é": ["b": .number("12345678901234567890.5")]]),
            .json(["a": false, "b": .number("1e300"), "é": .number("-0.0")]),
        ],
        .transformable: [.string("s")],
    ]

    static let keys = ["a", "b", "b", "x.y", "é", "A"]
    static let numbers = ["0.0", "1.5", "16.99", "-0.5", "1e2", "-1e-2", "17", "10.50"]
    static let parts = ["", "a", "A", "n", "ss", "ß", "\0", "*", "\u{301}", "http", "é", "\n"]
    static let wildcards = ["*", "?", "A*", "?nn", "*ß*", "a\\*b", "*n", "x?y", "", "*/c", "straß?", "*:*"]
    static let expressions = [
        ".*", "(?s).*", "[A-Za-z]+", "a.n|A..", "ann", "x\\x00y", "", "\\w+", "strasse|stra.e", "http://.*", "(a|b)*",
    ]
}
