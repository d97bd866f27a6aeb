extension PayloadMapper {
    /// Tells how far mapping is, and notices a cancelled task.
    func report(_ completed: Int, of total: Int) throws {
        if Task.isCancelled { throw CancellationError() }
        options.progress?(PayloadProgress(.mapping, completed: completed, total: total))
    }
}
