// verdict: race-free
// The second thread gets the handle of the first, joins it and takes over its result.
#include <pthread.h>

static int draft;
static pthread_t writer;

static void *write_draft(void *arg)
{
    draft = 1; // NORACE
    return NULL;
}

static void *edit_draft(void *arg)
{
    pthread_join(writer, NULL);
    draft *= 2; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t editor;
    pthread_create(&writer, NULL, write_draft, NULL);
    pthread_create(&editor, NULL, edit_draft, NULL);
    pthread_join(editor, NULL);
    return draft; // NORACE
}
