/// A recursive descent parser of the text of a condition.
struct PredicateParser {
    private let tokens: [PredicateToken]
    private var position = 0
    private let arguments: [PredicateValue]
    private var usedArguments = 0
    private var nesting = 0

    /// Parses a condition.
    ///
    /// - Parameter arguments: The values of `%@` and the paths of `%K`, in order.
    /// - Throws: ``SyncError`` `invalidPredicate` with line and column.
    static func parse(_ text: String, _ arguments: [PredicateValue] = []) throws -> PredicateNode {
        var parser = PredicateParser(tokens: try PredicateLexer.tokens(of: text), arguments: arguments)
        let node = try parser.alternatives()
        guard parser.token.kind == .end else { throw parser.expected("AND, OR or the end") }
        let (used, given) = (parser.usedArguments, arguments.count)
        guard used == given else {
            throw parser.token.location.error("the predicate uses \(used) of \(given) arguments")
        }
        return node
    }

    private init(tokens: [PredicateToken], arguments: [PredicateValue]) {
        self.tokens = tokens
        self.arguments = arguments
    }

    private var token: PredicateToken { tokens[position] }

    /// Returns the current token, and moves to the next one. The last token, the end, always stays current.
    private mutating func consume() -> PredicateToken {
        defer { position = min(position + 1, tokens.count - 1) }
        return token
    }

    private mutating func consume(keyword: String, or symbol: String? = nil) -> Bool {
        guard token.keyword == keyword || symbol.map(token.isSymbol) == true else { return false }
        _ = consume()
        return true
    }

    private mutating func consume(symbol: String) -> Bool {
        guard token.isSymbol(symbol) else { return false }
        _ = consume()
        return true
    }

    private func expected(_ what: String) -> SyncError {
        token.location.error("expected \(what), found \(token.found)")
    }

    // MARK: Conditions

    private mutating func alternatives() throws -> PredicateNode {
        var nodes = [try conjunction()]
        while consume(keyword: "OR", or: "||") { nodes.append(try conjunction()) }
        return .any(of: nodes)
    }

    private mutating func conjunction() throws -> PredicateNode {
        var nodes = [try negation()]
        while consume(keyword: "AND", or: "&&") { nodes.append(try negation()) }
        return .all(of: nodes)
    }

    private mutating func negation() throws -> PredicateNode {
        let location = token.location
        guard consume(keyword: "NOT", or: "!") else { return try primary() }
        return try nested(at: location) { parser throws in .not(try parser.negation()) }
    }

    private mutating func primary() throws -> PredicateNode {
        if token.isSymbol("(") { return try group() }
        if case .number = token.kind, isOperation(after: position) { return try calculation(from: nil) }
        if consume(keyword: "TRUEPREDICATE") { return .constant(true) }
        if consume(keyword: "FALSEPREDICATE") { return .constant(false) }
        return try comparison()
    }

    /// Parses conditions in parentheses, or a calculation that begins with parentheses.
    private mutating func group() throws -> PredicateNode {
        let start = self
        let location = token.location
        let failure: any Error
        do {
            _ = consume()
            let node = try nested(at: location) { parser throws in try parser.alternatives() }
            guard consume(symbol: ")") else { throw expected("AND, OR or ')'") }
            return node
        } catch {
            failure = error
        }
        self = start
        do {
            return try calculation(from: nil)
        } catch {
            throw failure
        }
    }

    private mutating func nested(
        at location: PredicateSourceLocation, _ body: (inout PredicateParser) throws -> PredicateNode
    ) throws -> PredicateNode {
        guard nesting < RowPredicate.maximumNesting else { throw RowPredicate.nestedTooDeeply(at: location) }
        nesting += 1
        defer { nesting -= 1 }
        return try body(&self)
    }

    // MARK: Comparisons

    private mutating func comparison() throws -> PredicateNode {
        let quantifier = parseQuantifier()
        let pathLocation = token.location
        let (path, names) = try namedPath(quantifier)
        if quantifier != nil, token.isSymbol("(") { return try related(path, at: pathLocation) }
        if isOperationNext { return try calculation(from: .path(path, pathLocation)) }
        let start = self
        let (op, written) = try parseOperator(after: path)
        if written == "IS" {
            let valueLocation = token.location
            try parseNull(after: op)
            return .comparison(
                try PredicateComparison(
                    path, op, .null, names: names, pathLocation: pathLocation, valueLocation: valueLocation))
        }
        let ignoresCase = try parseOptions()
        let valueLocation = token.location
        if case .escapedWord = token.kind {
            self = start
            return try calculation(from: .path(path, pathLocation))
        }
        let value = try value(after: written)
        if isOperationNext {
            self = start
            return try calculation(from: .path(path, pathLocation))
        }
        return .comparison(
            try PredicateComparison(
                path, op, value, ignoresCase: ignoresCase, names: names, pathLocation: pathLocation,
                valueLocation: valueLocation))
    }

    private mutating func related(_ path: PredicatePath, at location: PredicateSourceLocation) throws -> PredicateNode {
        _ = consume()
        let condition = try nested(at: location) { parser throws in try parser.alternatives() }
        guard consume(symbol: ")") else { throw expected("AND, OR or ')'") }
        return .related(PredicateExists(path: path, condition: condition, location: location))
    }

    // MARK: Calculations

    private var operation: PredicateTerm.Operation? {
        (token.symbol ?? token.keyword).flatMap(PredicateTerm.Operation.init)
    }

    private var isOperationNext: Bool { operation != nil }

    private func isOperation(after location: Int) -> Bool {
        guard location + 1 < tokens.count else { return false }
        let next = tokens[location + 1]
        return (next.symbol ?? next.keyword).flatMap(PredicateTerm.Operation.init) != nil
    }

    /// Parses a comparison of calculated values.
    ///
    /// - Parameter first: The first operand, if it was parsed already.
    private mutating func calculation(from first: PredicateTerm?) throws -> PredicateNode {
        let location = token.location
        let left = try term(rank: 0, from: first)
        let (op, written) = try parseOperator(after: nil)
        guard written != "IS" else { throw expected("a comparison") }
        let right = try term(rank: 0)
        return .calculation(PredicateCalculation(left: left, operator: op, right: right, location: location))
    }

    /// Parses an operand, or a chain of operations of this precedence or a higher one.
    private mutating func term(rank: Int, from first: PredicateTerm? = nil) throws -> PredicateTerm {
        var left = rank == 0 ? try term(rank: 1, from: first) : try first ?? factor()
        while let operation, operation.rank == rank {
            let location = token.location
            _ = consume()
            let right = rank == 0 ? try term(rank: 1) : try factor()
            left = .calculated(left, operation, right, location)
        }
        guard left.nesting <= RowPredicate.maximumNesting else {
            throw RowPredicate.nestedTooDeeply(at: token.location)
        }
        return left
    }

    private mutating func factor() throws -> PredicateTerm {
        let location = token.location
        if consume(symbol: "(") {
            guard nesting < RowPredicate.maximumNesting else { throw RowPredicate.nestedTooDeeply(at: location) }
            nesting += 1
            defer { nesting -= 1 }
            let inner = try term(rank: 0)
            guard consume(symbol: ")") else { throw expected("an operation or ')'") }
            return inner
        }
        if let value = try parseValue() { return .literal(try value.element(at: location), location) }
        return .path(try path(nil), location)
    }

    private mutating func parseQuantifier() -> PredicatePath.Quantifier? {
        if consume(keyword: "ANY") || consume(keyword: "SOME") { return .any }
        if consume(keyword: "ALL") { return .all }
        return consume(keyword: "NONE") ? PredicatePath.Quantifier.none : nil
    }

    private mutating func path(_ quantifier: PredicatePath.Quantifier?) throws -> PredicatePath {
        try namedPath(quantifier).path
    }

    /// Parses a path. Also returns its escaped components, which are names even if they begin with `@`.
    private mutating func namedPath(
        _ quantifier: PredicatePath.Quantifier?
    ) throws -> (path: PredicatePath, names: Set<String>) {
        if token.isReserved, let word = token.keyword {
            throw expected("an attribute or relationship (write #\(word) for one of this name)")
        }
        var components: [String] = []
        var names: Set<String> = []
        var isLastEscaped = false
        repeat {
            isLastEscaped = false
            switch token.kind {
            case .word(let name): components.append(name)
            case .escapedWord(let name):
                components.append(name)
                names.insert(name)
                isLastEscaped = true
            case .pathArgument: components += try pathArgument()
            case .collectionOperator(PredicatePath.countName) where !components.isEmpty:
                _ = consume()
                return (PredicatePath(components: components, isCount: true, quantifier: quantifier), names)
            case .collectionOperator where !components.isEmpty:
                throw expected("@count, the only collection operator")
            default: throw expected(components.isEmpty ? "an attribute or relationship" : "a name after '.'")
            }
            _ = consume()
        } while consume(symbol: ".")
        if components.last == PredicatePath.countName, components.count > 1, !isLastEscaped {
            return (PredicatePath(components: components.dropLast(), isCount: true, quantifier: quantifier), names)
        }
        return (PredicatePath(components: components, quantifier: quantifier), names)
    }

    private mutating func pathArgument() throws -> [String] {
        guard case .text(let text) = try argument().literal(at: token.location) else {
            throw token.location.error("the argument for %K is not a key path")
        }
        return text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    private mutating func argument() throws -> PredicateValue {
        guard usedArguments < arguments.count else {
            throw token.location.error("no argument for this \(token.found)")
        }
        defer { usedArguments += 1 }
        return arguments[usedArguments]
    }

    /// Parses an operator, and returns it with the text that was written, in upper case.
    private mutating func parseOperator(after path: PredicatePath?) throws -> (PredicateOperator, written: String) {
        let what = path.map { "an operator after '\($0.name)'" } ?? "an operator"
        guard let written = token.keyword ?? token.symbol else { throw expected(what) }
        if written == "NOT" {
            throw token.location.error("expected an operator, found NOT; write NOT before the path, or after IS")
        }
        if consume(keyword: "IS") { return (consume(keyword: "NOT") ? .notEqual : .equal, written) }
        let op: PredicateOperator? =
            switch written {
            case "=": .equal
            case "<>": .notEqual
            default: PredicateOperator(rawValue: written)
            }
        guard let op else { throw expected(what) }
        _ = consume()
        return (op, written)
    }

    /// Parses the only value that may follow `IS` and `IS NOT`.
    private mutating func parseNull(after op: PredicateOperator) throws {
        guard consume(keyword: "NULL") || consume(keyword: "NIL") else {
            throw expected(op == .equal ? "NULL or NOT NULL after 'IS'" : "NULL after 'IS NOT'")
        }
    }

    /// Parses the option `[c]`, if the next token begins it. Returns whether it was there.
    private mutating func parseOptions() throws -> Bool {
        guard token.isSymbol("["), !isKeyNext else { return false }
        _ = consume()
        guard consume(keyword: "C") else { throw expected("the option 'c' (ignore case), the only supported option") }
        guard consume(symbol: "]") else { throw expected("']'") }
        return true
    }

    // MARK: Values

    private mutating func value(after op: String) throws -> PredicateValue {
        if consume(symbol: "{") { return try list() }
        guard let value = try parseKey() ?? parseValue() else {
            if token.isSymbol("("), op == "IN" { throw expected("a list in braces such as {1, 2}") }
            throw expected("a value after '\(op)'" + hint)
        }
        return value
    }

    /// Parses the rest of a list, after its opening brace.
    private mutating func list() throws -> PredicateValue {
        var values: [PredicateValue] = []
        if consume(symbol: "}") { return .list(values) }
        repeat {
            let location = token.location
            guard let value = try parseKey() ?? parseValue() else { throw expected("a value in the list" + hint) }
            values.append(PredicateValue(try value.element(at: location)))
        } while consume(symbol: ",")
        guard consume(symbol: "}") else { throw expected("',' or '}'") }
        return .list(values)
    }

    /// Whether the next token begins a composite key instead of an option.
    private var isKeyNext: Bool {
        guard token.isSymbol("["), position + 1 < tokens.count else { return false }
        switch tokens[position + 1].kind {
        case .text, .number, .valueArgument, .symbol("["): return true
        default: return false
        }
    }

    /// Parses a composite key, such as `["apple", 5]`, to a string; nil if the next token does not begin a composite
    /// key.
    private mutating func parseKey() throws -> PredicateValue? {
        guard isKeyNext else { return nil }
        return PredicateValue(.text(String(decoding: CanonicalJSON.bytes(try parts()), as: UTF8.self)))
    }

    private mutating func parts() throws -> JSONValue {
        let location = token.location
        _ = consume()
        guard nesting < RowPredicate.maximumNesting else { throw RowPredicate.nestedTooDeeply(at: location) }
        nesting += 1
        defer { nesting -= 1 }
        var parts: [JSONValue] = []
        repeat {
            if token.isSymbol("[") {
                parts.append(try self.parts())
                continue
            }
            let location = token.location
            switch try parseValue()?.element(at: location) {
            case .text(let text): parts.append(.string(text))
            case .number(let text): parts.append(.number(text))
            default: throw location.error("expected a part of a key: a string or a number")
            }
        } while consume(symbol: ",")
        guard consume(symbol: "]") else { throw expected("',' or ']'") }
        return .array(parts)
    }

    private var hint: String {
        if case .word = token.kind, !token.isReserved { " (quote a string)" } else { "" }
    }

    /// Parses a literal or an argument; nil if the next token is neither.
    private mutating func parseValue() throws -> PredicateValue? {
        let literal: PredicateLiteral
        switch (token.kind, token.keyword) {
        case (.number(let text), _): literal = .number(text)
        case (.text(let text), _): literal = .text(text)
        case (_, "NIL"), (_, "NULL"): literal = .null
        case (_, "TRUE"), (_, "YES"): literal = .boolean(true)
        case (_, "FALSE"), (_, "NO"): literal = .boolean(false)
        case (.valueArgument, _):
            let value = try argument()
            _ = consume()
            return value
        default: return nil
        }
        _ = consume()
        return PredicateValue(literal)
    }
}
