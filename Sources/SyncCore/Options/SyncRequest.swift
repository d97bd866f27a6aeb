/// What a caller asks of a store, beside the payload: the same for every way in.
package struct SyncRequest: Sendable {
    /// Which stored rows the payload speaks for.
    package var predicate: RecordPredicate?
    package var options: SyncOptions
    /// Whether everything is taken back at the end, so that only the result is left.
    package var isDryRun: Bool

    package init(
        predicate: RecordPredicate? = nil, options: SyncOptions = SyncOptions(), isDryRun: Bool = false
    ) {
        self.predicate = predicate
        self.options = options
        self.isDryRun = isDryRun
    }
}
