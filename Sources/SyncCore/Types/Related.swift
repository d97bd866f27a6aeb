/// The rows that a relationship of a value leads to, as far as they were loaded: what `@Entity` keeps for a property with
/// `@Relationship`. In memory of its own, so that types may refer to themselves and to each other.
///
/// `Row` has no constraint. With one, the compiler would need the conformances of a type for the properties of that type, which
/// it does not have yet under `.defaultIsolation(MainActor.self)`.
public struct Related<Row> {
    /// The rows; nil if they were not loaded, so that nothing is said of them.
    public var rows: [Row]?

    /// Rows that were loaded; without any, nothing is known.
    public init(_ rows: [Row]? = nil) { self.rows = rows }
}

extension Related: Sendable where Row: Sendable {}
extension Related: Equatable where Row: Equatable {}
extension Related: Hashable where Row: Hashable {}
extension Related: Codable where Row: Codable {}
