/// A writer of conditions as text. Parsing the text of a valid condition gives an equivalent condition.
enum PredicateText {
    static func text(_ node: PredicateNode) -> String {
        switch node {
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .and(let nodes): nodes.map { operand($0, isNotRetained: isAlternative($0)) }.joined(separator: " AND ")
        case .or(let nodes): nodes.map(text).joined(separator: " OR ")
        case .not(let node): "NOT " + operand(node, isNotRetained: isCompound(node))
        case .comparison(let comparison): text(comparison)
        case .calculation(let calculation): text(calculation)
        case .related(let related): text(related)
        case .invalid(_, let text): text
        }
    }

    private static func operand(_ node: PredicateNode, isNotRetained: Bool) -> String {
        isNotRetained ? "(\(text(node)))" : text(node)
    }

    private static func isAlternative(_ node: PredicateNode) -> Bool {
        if case .or = node { true } else { false }
    }

    private static func isCompound(_ node: PredicateNode) -> Bool {
        switch node {
        case .and, .or: true
        default: false
        }
    }

    private static func text(_ comparison: PredicateComparison) -> String {
        let path = comparison.path
        var words = path.quantifier.map { [$0.rawValue] } ?? []
        words.append(names(path))
        words.append(comparison.operator.rawValue + (comparison.ignoresCase ? "[c]" : ""))
        words.append(text(comparison.literal))
        return words.joined(separator: " ")
    }

    private static func text(_ related: PredicateExists) -> String {
        let quantifier = (related.path.quantifier ?? .any).rawValue
        return "\(quantifier) \(names(related.path)) (\(text(related.condition)))"
    }

    // MARK: Calculations

    private static func text(_ calculation: PredicateCalculation) -> String {
        let left = text(calculation.left, isFirst: true)
        return "\(left) \(calculation.operator.rawValue) \(text(calculation.right, isFirst: false))"
    }

    /// Returns the text of a term. A path has the prefix `#`, unless `isFirst` is true.
    ///
    /// - Parameter isFirst: Whether the term is at the start of the condition or of parentheses.
    private static func text(_ term: PredicateTerm, isFirst: Bool) -> String {
        switch term {
        case .path(let path, _):
            let names = names(path)
            return isFirst || names.hasPrefix("#") ? names : "#" + names
        case .literal(let literal, _): return text(literal)
        case .calculated(let left, let operation, let right, _):
            let first = rank(left) < operation.rank ? "(\(text(left, isFirst: true)))" : text(left, isFirst: isFirst)
            let second = rank(right) <= operation.rank ? "(\(text(right, isFirst: true)))" : text(right, isFirst: false)
            return "\(first) \(operation.rawValue) \(second)"
        }
    }

    private static func rank(_ term: PredicateTerm) -> Int {
        if case .calculated(_, let operation, _, _) = term { operation.rank } else { 2 }
    }

    private static func names(_ path: PredicatePath) -> String {
        let names = path.components.enumerated().map { index, name in
            guard isWord(name) else { return "#" + quoted(name) }
            return index == 0 && PredicateToken.reserved.contains(name.uppercased()) ? "#" + name : name
        }
        return (names + (path.isCount ? [PredicatePath.countName] : [])).joined(separator: ".")
    }

    private static func isWord(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, !("0"..."9").contains(first) else { return false }
        return name.unicodeScalars.allSatisfy { scalar in
            !scalar.isASCII || scalar == "_" || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
        }
    }

    static func text(_ literal: PredicateLiteral) -> String {
        switch literal {
        case .null: "nil"
        case .boolean(let value): value ? "TRUE" : "FALSE"
        case .number(let text): text
        case .text(let text): quoted(text)
        case .list(let values): "{" + values.map(text).joined(separator: ", ") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "'"
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "'"
    }
}
