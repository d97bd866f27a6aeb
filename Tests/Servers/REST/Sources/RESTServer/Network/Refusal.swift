/// A rejected request. The body is `{"message": …}`, or the row if the client needs it.
struct Refusal: Error {
    /// The status code.
    let status: Int
    /// The message.
    let message: String
    /// The body instead of the message: the row whose precondition failed.
    var body: JSON?
    /// Further headers, such as `Allow`.
    var headers: [String: String] = [:]

    /// Creates a rejection whose body is the message.
    init(_ status: Int, _ message: String) {
        self.status = status
        self.message = message
    }

    /// Creates a rejection of a method that the path does not support.
    init(allowing methods: String...) {
        self.init(405, "the method is not allowed here")
        headers = ["Allow": methods.joined(separator: ", ")]
    }

    /// The rejection as an answer.
    var answer: Answer {
        var answer = Answer(status: status, json: body ?? ["message": .string(message)])
        answer.headers.merge(headers) { _, own in own }
        return answer
    }
}
