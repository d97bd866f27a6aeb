/// A value to compare with: what every ``PredicateArgument`` becomes.
///
/// A type of your own becomes an argument by naming the value it stands for:
///
/// ```swift
/// extension Status: PredicateArgument {
///     var predicateValue: PredicateValue { rawValue.predicateValue }
/// }
/// ```
public struct PredicateValue: Sendable, Hashable {
    private let content: Result<PredicateLiteral, SyncError>

    init(_ literal: PredicateLiteral) { content = .success(literal) }
    private init(_ error: SyncError) { content = .failure(error) }

    /// No value.
    public static let null = PredicateValue(.null)

    static func refused(_ message: String) -> PredicateValue {
        PredicateValue(SyncError(.invalidPredicate, message))
    }

    /// A list, for `IN` and `BETWEEN`.
    public static func list(_ values: [PredicateValue]) -> PredicateValue {
        var literals: [PredicateLiteral] = []
        for value in values {
            do {
                literals.append(try value.element(at: .none))
            } catch {
                return PredicateValue(error)
            }
        }
        return PredicateValue(.list(literals))
    }

    func literal(at place: PredicatePlace) throws(SyncError) -> PredicateLiteral {
        switch content {
        case .success(let literal): return literal
        case .failure(let error): throw place.error(error.message)
        }
    }

    /// The literal as an element of a list.
    func element(at place: PredicatePlace) throws(SyncError) -> PredicateLiteral {
        let literal = try literal(at: place)
        if case .list = literal { throw place.error("a list cannot hold a list") }
        return literal
    }
}
