//! Request errors, sent as error pages.

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};

use crate::web;
use arbiter_store::StoreError;

/// Error of a request: the status code of the response, and a sentence for the error page.
#[derive(Debug)]
pub(crate) struct HttpError(pub(crate) StatusCode, pub(crate) String);

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let HttpError(code, message) = self;
        let title = code.canonical_reason().unwrap_or("Error");
        (code, Html(web::error_page(title, &message))).into_response()
    }
}

impl From<StoreError> for HttpError {
    fn from(error: StoreError) -> HttpError {
        let (code, message) = match error {
            StoreError::NoRun { run, .. } => {
                (StatusCode::NOT_FOUND, format!("No run is named '{run}'."))
            }
            StoreError::Missing(_) => (StatusCode::NOT_FOUND, "No store yet.".to_owned()),
            error => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        };
        HttpError(code, message)
    }
}

pub(crate) fn bad_request(message: String) -> HttpError {
    HttpError(StatusCode::BAD_REQUEST, message)
}

pub(crate) fn unavailable(message: String) -> HttpError {
    HttpError(StatusCode::SERVICE_UNAVAILABLE, message)
}

pub(crate) fn not_found() -> HttpError {
    HttpError(StatusCode::NOT_FOUND, "Page not found.".to_owned())
}
