/// What becomes of a list of rows: first all there are, as inserted, and then the differences to what was given before.
///
/// It ends and fails as ``StoreObservation`` does.
public struct RowChangeObservation<Row: Sendable>: AsyncSequence, Sendable {
    /// The differences.
    public typealias Element = RowChanges<Row>

    /// Begins to observe; what it returns waits for the next differences.
    private let begin: @Sendable () -> () async throws -> RowChanges<Row>?

    init<Listed: ListedRow>(lists: StoreObservation<[Listed]>) where Listed.Element == Row {
        begin = {
            var lists = lists.makeAsyncIterator()
            var last: [Listed] = []
            return {
                guard let list = try await lists.next() else { return nil }
                defer { last = list }
                return RowChanges(from: last, to: list)
            }
        }
    }

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator { Iterator(nextChanges: begin()) }

    /// Observes as long as it is there.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let nextChanges: () async throws -> RowChanges<Row>?

        /// Waits for the next differences; nil once the task is cancelled.
        ///
        /// - Throws: ``SyncError``.
        public mutating func next() async throws -> RowChanges<Row>? { try await nextChanges() }
    }
}
