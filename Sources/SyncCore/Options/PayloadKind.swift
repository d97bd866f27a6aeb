/// What a payload says about the stored rows it leaves out.
///
/// Only about those of its own entity: a list of children nested in a record is always all there is of it.
public enum PayloadKind: Sendable {
    /// The payload is all there is: rows in scope that it leaves out are deleted. One object in no array leaves none
    /// out, unless a predicate or a parent says what it speaks for.
    case snapshot
    /// The payload is what changed: rows that it leaves out are kept.
    case delta
    /// The payload is one page of many, which together are all there is. Each is applied in its own transaction;
    /// ``SyncRun/finish()`` deletes what no page mentioned; nothing if a page is one object in no array, as an error is,
    /// and neither a predicate nor a parent says what it speaks for.
    case page(of: SyncRun)

    /// The run a page is part of.
    package var run: SyncRun? {
        guard case .page(let run) = self else { return nil }
        return run
    }
}
