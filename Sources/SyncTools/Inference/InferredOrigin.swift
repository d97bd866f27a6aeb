/// Which JSON key a member of an inferred model is for.
struct InferredOrigin {
    var entity: String
    var member: String
    var key: String
    /// Whether there was any value but null and empty lists.
    var hasValues: Bool
    /// Whether objects stand there, which are exported under the same key.
    var isForObjects = false
}
