import Foundation

/// A condition on the rows of one entity, with resolved names and typed values.
///
/// A store compiles the condition to SQL. Each part is either true or false for a row, and never unknown as in SQL.
package indirect enum ResolvedPredicate: Sendable {
    case constant(Bool)
    case and([ResolvedPredicate])
    case or([ResolvedPredicate])
    case not(ResolvedPredicate)
    case comparison(ResolvedComparison)
    case calculation(ResolvedCalculation)
    /// A condition on the rows at the end of relationships. The quantifier states how many of the rows must satisfy the
    /// condition.
    case related(PredicatePath.Quantifier, [CompiledRelationship], ResolvedPredicate)

    /// The number of nested levels; 0 for a comparison.
    package var nesting: Int {
        switch self {
        case .constant, .comparison, .calculation: 0
        case .related(_, _, let inner): inner.nesting + 1
        case .not(let inner): inner.nesting + 1
        case .and(let parts), .or(let parts): (parts.map(\.nesting).max() ?? 0) + 1
        }
    }
}

/// A comparison with resolved names: a quantifier, a path, and a test of the value at the end of the path.
package struct ResolvedComparison: Sendable {
    /// The rows at the end of a to-many relationship, and how many of them must pass the test.
    package struct Many: Sendable {
        package let quantifier: PredicatePath.Quantifier
        /// The relationships that lead to the rows. The last one is to-many.
        package let hops: [CompiledRelationship]
    }

    package struct Key: Sendable {
        package let attribute: SyncModel.Attribute
        package let slot: Int
    }

    /// The value to compare. It is a value of the row at the end of ``hops``.
    package enum Subject: Sendable {
        case attribute(SyncModel.Attribute, slot: Int)
        /// A member of the JSON in an attribute. It is nil if it is absent or null. A member of another type than
        /// `type` differs from every value.
        case member(SyncModel.Attribute, slot: Int, keys: [String], type: AttributeType)
        /// The primary key of the row that a to-one relationship references; nil if it references none. The second
        /// associated value is nil if the comparison only tests for nil.
        case target(CompiledRelationship, key: Key?)
        /// A to-many relationship, which can only be compared with nil. The relationship equals nil if it has no rows.
        case targets(CompiledRelationship)
        case count(CompiledRelationship)
    }

    package enum Test: Sendable {
        case isNull
        case isNotNull
        /// False for every row, such as an order comparison with nil.
        case never
        case equal(PredicateConstant)
        case notEqual(PredicateConstant)
        case isIn([PredicateConstant], orNull: Bool)
        case less(PredicateConstant)
        case lessOrEqual(PredicateConstant)
        case greater(PredicateConstant)
        case greaterOrEqual(PredicateConstant)
        case between(PredicateConstant, PredicateConstant)
        case contains(String)
        case beginsWith(String)
        case endsWith(String)
        case like(String)
        case matches(RegularExpression)
    }

    /// The related rows whose values are compared; nil if the value of the row itself is compared.
    package let many: Many?
    /// The to-one relationships from these rows, or from the row itself, to the row with the compared value.
    package let hops: [CompiledRelationship]
    package let subject: Subject
    package let test: Test
    /// Whether the comparison ignores case. The strings of the test are folded, except regular expressions.
    package let ignoresCase: Bool
}

extension ResolvedComparison.Subject {
    /// The type of the compared values; integer for a count, and for a relationship that is only compared with nil.
    package var type: AttributeType {
        switch self {
        case .attribute(let attribute, _): attribute.type
        case .member(_, _, _, let type): type
        case .target(_, let key): key?.attribute.type ?? .integer
        case .targets, .count: .integer
        }
    }
}

// MARK: - Links

extension ResolvedPredicate {
    /// Whether the condition uses anything but attributes of the row itself.
    package var followsLinks: Bool {
        switch self {
        case .constant: false
        case .not(let node): node.followsLinks
        case .and(let nodes), .or(let nodes): nodes.contains(where: \.followsLinks)
        case .comparison(let comparison): comparison.followsLinks
        case .calculation(let calculation): calculation.followsLinks
        case .related: true
        }
    }
}

extension ResolvedComparison {
    fileprivate var followsLinks: Bool {
        switch subject {
        case .attribute, .member: many != nil || !hops.isEmpty
        case .target, .targets, .count: true
        }
    }
}

// MARK: - Comparison of text

/// Unicode case folding, for comparisons that ignore case.
package enum CaseFolding {
    /// Returns a string with its case folded. Each scalar is folded by itself, so `Straße` equals `STRASSE`, and all
    /// forms of sigma are equal.
    ///
    /// Lowercasing, uppercasing and lowercasing again is full case folding, with two exceptions. The Turkish dotless
    /// `ı` must not change. Cherokee letters become lowercase instead of uppercase, which makes no difference to
    /// comparisons.
    package static func fold(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        var folded = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "ı" {
                folded.append(scalar)
                continue
            }
            for lower in scalar.properties.lowercaseMapping.unicodeScalars {
                for upper in lower.properties.uppercaseMapping.unicodeScalars {
                    folded.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars)
                }
            }
        }
        return String(folded)
    }
}

/// A regular expression in ICU syntax that must match the whole string.
///
/// `.` matches one Unicode scalar other than a line break, unless the pattern begins with `(?s)`.
package struct RegularExpression: Sendable, Hashable {
    package let pattern: String
    private let expression: NSRegularExpression

    /// Creates the expression; nil if the pattern is invalid.
    package init?(_ pattern: String, ignoringCase: Bool) {
        let options: NSRegularExpression.Options = ignoringCase ? .caseInsensitive : []
        // Check the pattern by itself first: `a)(b` would become valid inside the parentheses. The empty pattern is
        // valid only inside them.
        guard pattern.isEmpty || (try? NSRegularExpression(pattern: pattern, options: options)) != nil,
            let whole = try? NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: options)
        else { return nil }
        self.pattern = pattern
        expression = whole
    }

    /// Returns whether the whole string matches.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` if the match takes too many steps.
    package func matches(_ text: String) throws -> Bool {
        let length = text.utf16.count
        let reportLimit = Self.reportLimit + length / 1000
        var reports = 0
        var isMatch = false
        var isUnknown = false
        expression.enumerateMatches(
            in: text, options: [.reportProgress, .reportCompletion], range: NSRange(location: 0, length: length)
        ) { match, flags, stop in
            reports += 1
            if match != nil { isMatch = true }
            // ICU reports an internal error if backtracking exceeds its memory limit.
            isUnknown = !isMatch && (flags.contains(.internalError) || reports > reportLimit)
            stop.pointee = ObjCBool(isMatch || isUnknown)
        }
        if isUnknown { throw SyncError(.invalidPredicate, Self.tooManySteps) }
        return isMatch
    }

    /// The largest number of progress reports for a short text. ICU reports every ten thousand steps. A match without
    /// backtracking takes a few steps for each character, while backtracking can take any number of steps.
    private static let reportLimit = 1000

    /// The message for a pattern that takes too many steps.
    package static let tooManySteps =
        "MATCHES takes too many steps: avoid nested repetitions such as (a+)+ in its pattern"
}
