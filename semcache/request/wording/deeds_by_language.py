"""Deeds of one's own hands and accounts by language, of which any way is the asker's: "wie kann man Brot backen".

Of others "one" is asked after, and no way to do it: "wie kann man abhängig werden".
"""

from __future__ import annotations

from semcache.request.text import vocabulary

DEEDS = {
    "German": vocabulary("""
        abmelden abschalten aktivieren anmelden backen beantragen bestellen bezahlen buchen drucken einrichten
        einschalten entfernen eröffnen erstellen herunterladen hochladen installieren kochen kopieren kündigen
        löschen öffnen reinigen reparieren schließen speichern stornieren umbenennen umtauschen verbinden
        verschieben waschen zurückgeben zurücksetzen ändern
        """),
    "French": vocabulary("""
        activer annuler changer commander connecter copier créer cuire cuisiner désactiver déplacer échanger
        enregistrer fermer imprimer installer laver modifier nettoyer ouvrir payer préparer renommer renvoyer
        réinitialiser réparer réserver résilier retourner supprimer télécharger trier
        """),
    "Spanish": vocabulary("""
        abrir activar actualizar borrar cambiar cancelar cerrar cocinar conectar copiar crear desactivar descargar
        devolver eliminar guardar imprimir instalar lavar limpiar modificar mover ordenar pagar pedir preparar
        recuperar renombrar reparar reservar restablecer
        """),
    "Italian": vocabulary("""
        aggiornare annullare aprire attivare cambiare cancellare caricare chiudere collegare copiare creare cucinare
        cuocere disattivare eliminare installare lavare modificare ordinare pagare preparare prenotare pulire
        recuperare reimpostare restituire rinominare riparare salvare scaricare spostare stampare
        """),
    "Portuguese": vocabulary("""
        abrir alterar apagar ativar atualizar baixar cadastrar cancelar conectar consertar copiar cozinhar criar
        desativar devolver excluir fechar imprimir instalar lavar limpar mover mudar pagar pedir preparar recuperar
        redefinir renomear reservar salvar trocar
        """),
    "Dutch": vocabulary("""
        aanmaken aanmelden aanvragen activeren afdrukken afmelden annuleren bakken bestellen betalen boeken
        downloaden hernoemen installeren instellen koken kopiëren openen opslaan opzeggen repareren resetten
        retourneren ruilen schoonmaken sluiten sorteren terugsturen uploaden veranderen verbinden verplaatsen
        verwijderen wassen wijzigen
        """),
    "Russian": vocabulary("""
        включить вернуть восстановить забронировать заказать закрыть изменить оплатить открыть отключить отменить
        переименовать переместить подключить поменять почистить починить приготовить распечатать сбросить скачать
        скопировать создать сохранить сварить удалить установить
        """),
    "Polish": vocabulary("""
        anulować naprawić odzyskać otworzyć pobrać podłączyć przenieść skopiować stworzyć ugotować upiec usunąć
        utworzyć włączyć wyczyścić wydrukować wyłączyć wymienić wyprać zainstalować zaktualizować zamknąć zamówić
        zapisać zapłacić zarezerwować zmienić zresetować zwrócić
        """),
}
_AT_THE_END = ("German", "Dutch")  # where the verb of such a question stands


def by_hand(language: str) -> str:
    """An expression that looks ahead for such a deed: behind the words that ask, or at the end of the question."""
    deeds = "|".join(sorted(DEEDS[language]))
    return rf"(?=.* (?:{deeds})[?\s]*$)" if language in _AT_THE_END else rf"(?= (?:{deeds})(?!\w))"
