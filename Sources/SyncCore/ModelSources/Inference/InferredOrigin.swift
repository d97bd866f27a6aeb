/// Which JSON key a member of an inferred model is for.
struct InferredOrigin {
    var entity: String
    var member: String
    var key: String
    /// Whether there was any value but null and empty lists.
    var hasValues: Bool
}
