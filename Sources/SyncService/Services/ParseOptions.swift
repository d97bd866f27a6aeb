/// Which application of a Parse server, and what is special about it.
public struct ParseOptions: Sendable, Hashable {
    /// The application's id.
    public var applicationID: String
    /// The key for REST clients; nil for a server that wants none.
    public var restKey: String?
    /// The session of a user; nil for nobody's, and where credentials give `X-Parse-Session-Token`.
    public var sessionToken: String?
    /// How many rows a page has at most; a server may give fewer.
    public var pageSize = 1000
    /// How much of the time before is asked for again: a row may be there later than others that were changed after it.
    public var overlap = Duration.seconds(60)
    /// Who gives a new row its id: a server with `allowCustomObjectId` takes those of clients.
    public var ids = ServiceCapabilities.IDs.server
    /// A field of all classes that carries the key of a new row, so that one whose answer was lost is found by it.
    public var marker: String?

    /// An application.
    public init(applicationID: String, restKey: String? = nil) {
        self.applicationID = applicationID
        self.restKey = restKey
    }
}
