/// What becomes of a list of rows: first all there are, as inserted, and then the differences to what was given before.
///
/// It ends and fails as ``StoreObservation`` does.
public struct RowChangeObservation: AsyncSequence, Sendable {
    /// The differences.
    public typealias Element = RowChanges

    let lists: StoreObservation<[ObservedRow]>

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator { Iterator(lists: lists.makeAsyncIterator()) }

    /// Observes as long as it is there.
    public struct Iterator: AsyncIteratorProtocol {
        var lists: StoreObservation<[ObservedRow]>.Iterator
        private var last: [ObservedRow] = []

        init(lists: StoreObservation<[ObservedRow]>.Iterator) { self.lists = lists }

        /// Waits for the next differences; nil once the task is cancelled.
        ///
        /// - Throws: ``SyncError``.
        public mutating func next() async throws -> RowChanges? {
            guard let list = try await lists.next() else { return nil }
            defer { last = list }
            return RowChanges(from: last, to: list)
        }
    }
}
