internal import JSONBytes

/// A GET of a page that another thread answers.
package struct AdminQuestion: Sendable {
    /// The query of the request as it was sent, without the question mark; empty when there is none.
    package let query: String
    private let answer: @Sendable (@escaping @Sendable () -> AdminPage) -> Void

    /// - Parameter answer: called with the page, to be made on the admin server's thread.
    package init(query: String, answer: @escaping @Sendable (@escaping @Sendable () -> AdminPage) -> Void) {
        self.query = query
        self.answer = answer
    }

    /// The percent-decoded value of the first parameter of that name; nil when there is none.
    package func parameter(_ name: String) -> String? {
        for item in self.query.split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.first.map(String.init) == name {
                return PercentCoding.decode(parts.count > 1 ? String(parts[1]) : "")
            }
        }
        return nil
    }

    /// Answers, from any thread. Only the first answer counts, and only within the server's
    /// ``AdminServer/patience``.
    /// - Parameter page: makes the page, on the admin server's thread.
    package func answer(with page: @escaping @Sendable () -> AdminPage) {
        self.answer(page)
    }
}
