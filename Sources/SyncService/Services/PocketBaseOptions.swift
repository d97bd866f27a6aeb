/// How a PocketBase server is asked.
public struct PocketBaseOptions: Sendable, Hashable {
    /// The field of every collection with the time of the last change (type `autodate`, on create and on update); nil where there is
    /// none, so that every pull is a whole one.
    public var updated: String? = "updated"
    /// How much of the time before is asked for again: a row has its time before its transaction ends.
    public var overlap = Duration.seconds(60)
    /// How many rows a page has; the server gives 1000 at most.
    public var pageSize = 1000
    /// How many changes a request has at most, done whole or not at all; 1 for no batches. A server that has them turned off is sent
    /// single requests.
    public var batchSize = 50

    /// As PocketBase comes.
    public init() {}
}
