/// One expectation that is not met: where, what it says, what there is.
struct Mismatch: Error, Hashable {
    /// The path of attributes and relationships: `company.name`.
    var path: String
    var expected: String
    var found: String
}
